-- Up to the last of the lowest: found once. A list of ids would be looked through for every row.
-- $1 shard_id   $2 category_id   $3 first task_id   $4 end task_id   $5 how many at most
DELETE FROM history_immediate_tasks
WHERE shard_id = $1 AND category_id = $2 AND task_id >= $3 AND task_id <= (
    SELECT max(task_id)
    FROM (
        SELECT task_id
        FROM history_immediate_tasks
        WHERE shard_id = $1 AND category_id = $2 AND task_id >= $3 AND task_id < $4
        ORDER BY task_id
        LIMIT $5
    ) AS lowest
)
