EXISTS (SELECT 1 FROM queues WHERE name = $1 AND created_at = $4)
