-- $1 shard_id   $2 category_id   $3 first visibility_timestamp   $4 first task_id at that   $5 end visibility_timestamp
-- $6 how many at most
SELECT visibility_timestamp, task_id, data, data_encoding
FROM history_scheduled_tasks
WHERE shard_id = $1 AND category_id = $2 AND (visibility_timestamp, task_id) >= ($3, $4) AND visibility_timestamp < $5
ORDER BY visibility_timestamp, task_id
LIMIT $6
