-- Two under the same mark write the same key in role_binding_add_once_mark.sql: the later commit fails, and finds it set.
INSERT INTO leasehold_role_bindings (id, namespace, user_id, role_id, created_at)
SELECT $1, $2, $3, $4, $5
 WHERE NOT EXISTS (SELECT 1 FROM leasehold_access_marks WHERE name = $6)
   AND EXISTS (SELECT 1 FROM leasehold_roles WHERE id = $4)
   AND EXISTS (SELECT 1 FROM leasehold_users WHERE id = $3)
ON CONFLICT DO NOTHING
