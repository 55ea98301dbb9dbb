-- What each role allows that is bound to a user.   $1 user
SELECT binding.namespace, role.permissions
  FROM leasehold_role_bindings AS binding
  JOIN leasehold_roles AS role ON role.id = binding.role_id
 WHERE binding.user_id = $1
