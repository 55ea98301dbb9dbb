-- No row back: there was none. Servers that remember it hear of it if it is committed, and only then.
WITH gone AS (
    DELETE FROM leasehold_role_bindings WHERE namespace = $1 AND user_id = $2 AND role_id = $3 RETURNING id
)
SELECT pg_notify('leasehold_access_' || 'leasehold_api_keys'::regclass::oid, 'permissions') FROM gone
