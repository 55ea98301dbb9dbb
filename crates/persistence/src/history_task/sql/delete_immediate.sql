-- $1 shard_id   $2 category_id   $3 task_id
DELETE FROM history_immediate_tasks
WHERE shard_id = $1 AND category_id = $2 AND task_id = $3
