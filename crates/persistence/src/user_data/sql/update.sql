-- $1 namespace_id   $2 task_queue_name   $3 version before   $4 data   $5 data_encoding
UPDATE task_queue_user_data
SET version = $3::bigint + 1, data = $4, data_encoding = $5
WHERE namespace_id = $1 AND task_queue_name = $2 AND version = $3
