-- What the first bindings of a user in a namespace allow.
-- $1 user   $2 namespace   $3 how many bindings count
SELECT DISTINCT unnest(string_to_array(role.permissions, ',')) AS permission
  FROM (SELECT role_id
          FROM leasehold_role_bindings
         WHERE user_id = $1 AND namespace = $2
         ORDER BY id
         LIMIT $3) AS bound
  JOIN leasehold_roles AS role ON role.id = bound.role_id
