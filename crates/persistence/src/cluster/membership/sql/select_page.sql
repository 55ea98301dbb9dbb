-- What is null, or for the role 0, filters nothing.
-- $1 host_id   $2 rpc_address   $3 role   $4 microseconds since the last heartbeat   $5 session_start
-- $6 the host before the page   $7 how many
SELECT host_id, rpc_address, rpc_port, role, session_start, last_heartbeat, record_expiry
FROM cluster_membership
WHERE membership_partition = 0
  AND (host_id = $1 OR $1 IS NULL)
  AND (rpc_address = $2 OR $2 IS NULL)
  AND (role = $3 OR $3 = 0)
  AND (last_heartbeat > now() AT TIME ZONE 'UTC' - $4::bigint * interval '1 microsecond' OR $4 IS NULL)
  AND record_expiry > now() AT TIME ZONE 'UTC'
  AND (session_start >= $5 OR $5 IS NULL)
  AND (host_id > $6 OR $6 IS NULL)
ORDER BY host_id
LIMIT $7
