-- $1 pivot   $2 limit   $3 namespace
SELECT id, namespace, name, string_to_array(permissions, ',') AS permissions, created_at
  FROM leasehold_roles
 WHERE id >= $1 AND namespace = $3
 ORDER BY id
 LIMIT $2
