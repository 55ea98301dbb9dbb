-- The range, which stays as it is until the transaction ends; where nobody waits, one of two who count on it fails at COMMIT.
-- $1 range_hash   $2 task_queue_id
SELECT range_id
FROM task_queues
WHERE range_hash = $1 AND task_queue_id = $2
FOR UPDATE
