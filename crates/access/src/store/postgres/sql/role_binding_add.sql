-- The constraint that refuses tells whether the binding is there, or its role or user missing.
WITH added AS (
    INSERT INTO leasehold_role_bindings (id, namespace, user_id, role_id, created_at)
    VALUES ($1, $2, $3, $4, $5)
    RETURNING id
)
SELECT pg_notify('leasehold_access_' || 'leasehold_api_keys'::regclass::oid, 'permissions') FROM added
