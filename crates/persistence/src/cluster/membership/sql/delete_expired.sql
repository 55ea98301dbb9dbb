-- The expiry is asked twice: a row that changed while we waited for it is judged by the outer condition alone, and a host that
-- renewed meanwhile stays.
-- $1 how many
DELETE FROM cluster_membership
WHERE membership_partition = 0
  AND record_expiry < now() AT TIME ZONE 'UTC'
  AND host_id IN (
      SELECT host_id
      FROM cluster_membership
      WHERE membership_partition = 0 AND record_expiry < now() AT TIME ZONE 'UTC'
      ORDER BY host_id
      LIMIT $1
  )
