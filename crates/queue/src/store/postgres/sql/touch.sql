-- Locks the table before the row of its owner, as every write does: two orders could wait for each other.
SELECT 1 FROM {items} LIMIT 0
