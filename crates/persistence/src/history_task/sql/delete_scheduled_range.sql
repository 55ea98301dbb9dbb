-- $1 shard_id   $2 category_id   $3 first visibility_timestamp   $4 end visibility_timestamp
DELETE FROM history_scheduled_tasks
WHERE shard_id = $1 AND category_id = $2 AND visibility_timestamp >= $3 AND visibility_timestamp < $4
