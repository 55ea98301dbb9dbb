-- The constraint that refuses tells whether the role is there or its namespace missing.
INSERT INTO leasehold_roles (id, namespace, name, permissions, created_at)
VALUES ($1, $2, $3, $4, $5)
