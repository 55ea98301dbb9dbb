-- $1 namespace_id   $2 task_queue_name   $3 list of build_id
INSERT INTO build_id_to_task_queue (namespace_id, build_id, task_queue_name)
SELECT $1, build_id, $2
FROM unnest($3::text[]) AS added (build_id)
ON CONFLICT (namespace_id, build_id, task_queue_name) DO NOTHING
