-- No row back: there is none. Servers that remember what it allowed hear of it if it is committed, and only then.
WITH changed AS (UPDATE leasehold_roles SET permissions = $2 WHERE id = $1 RETURNING id)
SELECT pg_notify('leasehold_access_' || 'leasehold_api_keys'::regclass::oid, 'permissions') FROM changed
