-- $1 pivot   $2 limit   $3 of this user, or null for all
SELECT id, hash, user_id, namespace_scope, name, prefix, expires_at, last_used_at, created_at
  FROM leasehold_api_keys
 WHERE id >= $1 AND ($3::text IS NULL OR user_id = $3)
 ORDER BY id
 LIMIT $2
