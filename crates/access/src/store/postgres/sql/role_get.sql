SELECT id, namespace, name, permissions, created_at FROM leasehold_roles WHERE namespace = $1 AND name = $2
