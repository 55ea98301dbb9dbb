-- $1 pivot   $2 limit   $3 namespace   $4 of this user, or null for all
SELECT id, namespace, user_id, role_id, created_at
  FROM leasehold_role_bindings
 WHERE id >= $1 AND namespace = $3 AND ($4::text IS NULL OR user_id = $4)
 ORDER BY id
 LIMIT $2
