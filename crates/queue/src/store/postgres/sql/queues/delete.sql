-- Removes a record.   $1 name
DELETE FROM queues WHERE name = $1
