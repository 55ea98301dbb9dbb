-- Keys and bindings go with the user. Servers that remember them hear of it if it is committed, and only then.
WITH gone AS (DELETE FROM leasehold_users WHERE id = $1 RETURNING id)
SELECT pg_notify('leasehold_access_' || 'leasehold_api_keys'::regclass::oid, 'user ' || id), false AS is_partial FROM gone
