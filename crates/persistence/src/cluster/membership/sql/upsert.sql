-- $1 host_id   $2 rpc_address   $3 rpc_port   $4 role   $5 session_start   $6 microseconds until it expires
INSERT INTO cluster_membership
    (membership_partition, host_id, rpc_address, rpc_port, role, session_start, last_heartbeat, record_expiry)
VALUES
    (0, $1, $2, $3, $4, $5, now() AT TIME ZONE 'UTC', now() AT TIME ZONE 'UTC' + $6::bigint * interval '1 microsecond')
ON CONFLICT (membership_partition, host_id) DO UPDATE
SET rpc_address = EXCLUDED.rpc_address,
    rpc_port = EXCLUDED.rpc_port,
    role = EXCLUDED.role,
    session_start = EXCLUDED.session_start,
    last_heartbeat = EXCLUDED.last_heartbeat,
    record_expiry = EXCLUDED.record_expiry
