-- The range stays as it is and is not named: a change that names a column of a key is a change of the key.
-- $1 range_hash   $2 task_queue_id   $3 range_id   $4 data   $5 data_encoding
UPDATE task_queues
SET data = $4, data_encoding = $5
WHERE range_hash = $1 AND task_queue_id = $2 AND range_id = $3
