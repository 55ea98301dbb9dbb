-- Up to the last of the lowest: found once. A list of levels would be looked through for every row.
-- $1 range_hash   $2 task_queue_id   $3 end task_id   $4 end pass   $5 how many at most
DELETE FROM tasks_v2
WHERE range_hash = $1 AND task_queue_id = $2 AND (pass, task_id) <= (
    SELECT pass, task_id
    FROM (
        SELECT pass, task_id
        FROM tasks_v2
        WHERE range_hash = $1 AND task_queue_id = $2 AND (pass, task_id) < ($4, $3)
        ORDER BY pass, task_id
        LIMIT $5
    ) AS lowest
    ORDER BY pass DESC, task_id DESC
    LIMIT 1
)
