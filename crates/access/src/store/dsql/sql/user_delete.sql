-- Last, so that a user of whom something is left is still there to be deleted.
DELETE FROM leasehold_users
 WHERE id = $1
   AND NOT EXISTS (SELECT 1 FROM leasehold_api_keys WHERE user_id = $1)
   AND NOT EXISTS (SELECT 1 FROM leasehold_role_bindings WHERE user_id = $1)
