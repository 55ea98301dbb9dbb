-- $1 last range_hash   $2 last task_queue_id   $3 how many at most
SELECT range_hash, task_queue_id, range_id, data, data_encoding
FROM task_queues
WHERE (range_hash, task_queue_id) > ($1, $2)
ORDER BY range_hash, task_queue_id
LIMIT $3
