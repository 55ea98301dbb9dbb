-- The constraint that refuses tells whether id or hash is taken or the user is missing.
INSERT INTO leasehold_api_keys
    (id, hash, user_id, namespace_scope, name, prefix, expires_at, last_used_at, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
