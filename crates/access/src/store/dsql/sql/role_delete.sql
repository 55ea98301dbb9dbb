-- No row back: there was none, or somebody has it.
DELETE FROM leasehold_roles
 WHERE id = $1 AND NOT EXISTS (SELECT 1 FROM leasehold_role_bindings WHERE role_id = $1)
RETURNING id
