-- $1 namespace_id   $2 build_id
SELECT count(*) AS task_queues
FROM build_id_to_task_queue
WHERE namespace_id = $1 AND build_id = $2
