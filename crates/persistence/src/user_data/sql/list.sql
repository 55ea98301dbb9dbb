-- $1 namespace_id   $2 last task_queue_name   $3 how many at most
SELECT task_queue_name, version, data, data_encoding
FROM task_queue_user_data
WHERE namespace_id = $1 AND task_queue_name > $2
ORDER BY task_queue_name
LIMIT $3
