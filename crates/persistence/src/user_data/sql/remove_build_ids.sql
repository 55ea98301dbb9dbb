-- $1 namespace_id   $2 task_queue_name   $3 list of build_id
DELETE FROM build_id_to_task_queue
WHERE namespace_id = $1 AND task_queue_name = $2 AND build_id = ANY ($3::text[])
