-- As user_delete_api_keys.sql.
DELETE FROM leasehold_role_bindings
 WHERE id IN (SELECT id FROM leasehold_role_bindings WHERE user_id = $1 ORDER BY id LIMIT 1000)
