-- No row back: there was none. Servers that remember the key hear of it if it is committed, and only then.
WITH gone AS (DELETE FROM leasehold_api_keys WHERE id = $1 RETURNING id)
SELECT pg_notify('leasehold_access_' || 'leasehold_api_keys'::regclass::oid, 'key ' || id) FROM gone
