-- Up to the last of the lowest: found once. A list of ids would be looked through for every row.
-- $1 range_hash   $2 task_queue_id   $3 end task_id   $4 how many at most
DELETE FROM tasks
WHERE range_hash = $1 AND task_queue_id = $2 AND task_id <= (
    SELECT max(task_id)
    FROM (
        SELECT task_id
        FROM tasks
        WHERE range_hash = $1 AND task_queue_id = $2 AND task_id < $3
        ORDER BY task_id
        LIMIT $4
    ) AS lowest
)
