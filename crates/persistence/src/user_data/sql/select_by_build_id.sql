-- $1 namespace_id   $2 build_id
SELECT task_queue_name
FROM build_id_to_task_queue
WHERE namespace_id = $1 AND build_id = $2
ORDER BY task_queue_name
