-- $1 range_hash   $2 task_queue_id   $3 first task_id   $4 how many at most   $5 first pass
SELECT pass, task_id, data, data_encoding
FROM tasks_v2
WHERE range_hash = $1 AND task_queue_id = $2 AND (pass, task_id) >= ($5, $3)
ORDER BY pass, task_id
LIMIT $4
