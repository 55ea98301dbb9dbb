-- $1 namespace_id   $2 task_queue_name
SELECT version, data, data_encoding
FROM task_queue_user_data
WHERE namespace_id = $1 AND task_queue_name = $2
