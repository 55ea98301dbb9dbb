-- Whoever deletes the user at the same time and commits later fails, or this does.   $3 user
SELECT id FROM leasehold_users WHERE id = $3 FOR UPDATE
