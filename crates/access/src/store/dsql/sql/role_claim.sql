-- Whoever deletes the role at the same time and commits later fails, or this does.   $4 role
SELECT id FROM leasehold_roles WHERE id = $4 FOR UPDATE
