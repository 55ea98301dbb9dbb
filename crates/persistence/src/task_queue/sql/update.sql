-- $1 range_hash   $2 task_queue_id   $3 previous range_id   $4 data   $5 data_encoding   $6 range_id
UPDATE task_queues
SET data = $4, data_encoding = $5, range_id = $6
WHERE range_hash = $1 AND task_queue_id = $2 AND range_id = $3
