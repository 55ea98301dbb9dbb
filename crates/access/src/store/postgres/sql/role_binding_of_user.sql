-- One binding of a user, in whatever namespace; no row if there is none.
-- $1 user
SELECT id
  FROM leasehold_role_bindings
 WHERE user_id = $1
 LIMIT 1
