-- $1 shard_id   $2 category_id   $3 visibility_timestamp   $4 task_id
DELETE FROM history_scheduled_tasks
WHERE shard_id = $1 AND category_id = $2 AND visibility_timestamp = $3 AND task_id = $4
