-- No row is touched where there is one already.
-- $1 namespace_id   $2 task_queue_name   $3 version before, 0   $4 data   $5 data_encoding
INSERT INTO task_queue_user_data (namespace_id, task_queue_name, version, data, data_encoding)
VALUES ($1, $2, $3::bigint + 1, $4, $5)
ON CONFLICT (namespace_id, task_queue_name) DO NOTHING
