-- $1 range_hash   $2 task_queue_id   $3 first task_id   $4 how many at most   $5 end task_id
SELECT task_id, data, data_encoding
FROM tasks
WHERE range_hash = $1 AND task_queue_id = $2 AND task_id >= $3 AND task_id < $5
ORDER BY task_id
LIMIT $4
