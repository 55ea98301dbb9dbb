-- The roles that users have in a namespace.   $1 namespace
SELECT binding.id, binding.user_id, role.permissions
  FROM leasehold_role_bindings AS binding
  JOIN leasehold_roles AS role ON role.id = binding.role_id
 WHERE binding.namespace = $1
