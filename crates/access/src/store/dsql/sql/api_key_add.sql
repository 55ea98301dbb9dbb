INSERT INTO leasehold_api_keys
    (id, hash, user_id, namespace_scope, name, prefix, expires_at, last_used_at, created_at)
SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9
 WHERE EXISTS (SELECT 1 FROM leasehold_users WHERE id = $3)
ON CONFLICT DO NOTHING
