INSERT INTO leasehold_role_bindings (id, namespace, user_id, role_id, created_at)
SELECT $1, $2, $3, $4, $5
 WHERE EXISTS (SELECT 1 FROM leasehold_roles WHERE id = $4)
   AND EXISTS (SELECT 1 FROM leasehold_users WHERE id = $3)
ON CONFLICT DO NOTHING
