-- No row back: there was none.
DELETE FROM leasehold_role_bindings WHERE namespace = $1 AND user_id = $2 AND role_id = $3 RETURNING id
