-- $1 range_hash   $2 task_queue_id   $3 range_id
DELETE FROM task_queues
WHERE range_hash = $1 AND task_queue_id = $2 AND range_id = $3
