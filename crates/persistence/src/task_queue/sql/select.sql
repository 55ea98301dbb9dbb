-- $1 range_hash   $2 task_queue_id
SELECT range_id, data, data_encoding
FROM task_queues
WHERE range_hash = $1 AND task_queue_id = $2
