SELECT id, hash, user_id, namespace_scope, name, prefix, expires_at, last_used_at, created_at
  FROM leasehold_api_keys
 WHERE hash = $1
