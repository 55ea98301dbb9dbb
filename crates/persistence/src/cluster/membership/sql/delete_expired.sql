-- $1 how many
DELETE FROM cluster_membership
WHERE membership_partition = 0
  AND host_id IN (
      SELECT host_id
      FROM cluster_membership
      WHERE membership_partition = 0 AND record_expiry < now() AT TIME ZONE 'UTC'
      ORDER BY host_id
      LIMIT $1
  )
