-- Of the 3,000 rows that a transaction may change, a third. A key that comes at the same time claims the user's row, which
-- user_delete.sql writes.
DELETE FROM leasehold_api_keys
 WHERE id IN (SELECT id FROM leasehold_api_keys WHERE user_id = $1 ORDER BY id LIMIT 1000)
