-- Whether something of the user is left, and so the user; no row: there is none.
SELECT EXISTS (SELECT 1 FROM leasehold_api_keys WHERE user_id = $1)
       OR EXISTS (SELECT 1 FROM leasehold_role_bindings WHERE user_id = $1) AS is_partial
  FROM leasehold_users
 WHERE id = $1
