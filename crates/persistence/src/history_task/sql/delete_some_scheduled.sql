-- Up to the last of the earliest: found once. A list of keys would be looked through for every row.
-- $1 shard_id   $2 category_id   $3 first visibility_timestamp   $4 end visibility_timestamp   $5 how many at most
DELETE FROM history_scheduled_tasks
WHERE shard_id = $1 AND category_id = $2 AND visibility_timestamp >= $3 AND (visibility_timestamp, task_id) <= (
    SELECT visibility_timestamp, task_id
    FROM (
        SELECT visibility_timestamp, task_id
        FROM history_scheduled_tasks
        WHERE shard_id = $1 AND category_id = $2 AND visibility_timestamp >= $3 AND visibility_timestamp < $4
        ORDER BY visibility_timestamp, task_id
        LIMIT $5
    ) AS earliest
    ORDER BY visibility_timestamp DESC, task_id DESC
    LIMIT 1
)
