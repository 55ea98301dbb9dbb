-- Removes the record of the queue that was created then.   $1 name   $2 time of its creation
DELETE FROM queues WHERE name = $1 AND created_at = $2
