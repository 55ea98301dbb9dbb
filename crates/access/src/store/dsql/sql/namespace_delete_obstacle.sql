-- A role that comes into the namespace at the same time claims its row, which namespace_delete.sql writes.
SELECT 'leasehold_roles_namespace_fkey' AS obstacle
 WHERE EXISTS (SELECT 1 FROM leasehold_namespaces WHERE name = $1)
   AND EXISTS (SELECT 1 FROM leasehold_roles WHERE namespace = $1)
