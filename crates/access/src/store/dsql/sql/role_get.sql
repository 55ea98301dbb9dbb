SELECT id, namespace, name, string_to_array(permissions, ',') AS permissions, created_at
  FROM leasehold_roles
 WHERE namespace = $1 AND name = $2
