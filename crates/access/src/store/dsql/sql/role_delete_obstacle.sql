-- A binding that comes at the same time claims the role's row, which role_delete.sql writes.
SELECT 'leasehold_role_bindings_role_fkey' AS obstacle
 WHERE EXISTS (SELECT 1 FROM leasehold_roles WHERE id = $1)
   AND EXISTS (SELECT 1 FROM leasehold_role_bindings WHERE role_id = $1)
