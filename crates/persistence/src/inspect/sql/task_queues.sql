-- $1 $2 the last key before, or null   $3 how many
SELECT range_hash, task_queue_id, range_id
FROM task_queues
WHERE $1::bigint IS NULL OR (range_hash, task_queue_id) > ($1, $2)
ORDER BY range_hash, task_queue_id
LIMIT $3
