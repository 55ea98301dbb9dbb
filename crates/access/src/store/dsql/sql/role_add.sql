INSERT INTO leasehold_roles (id, namespace, name, permissions, created_at)
SELECT $1, $2, $3, array_to_string($4::text[], ','), $5
 WHERE EXISTS (SELECT 1 FROM leasehold_namespaces WHERE name = $2)
ON CONFLICT DO NOTHING
