-- $1 range_hash   $2 task_queue_id   $3 range_id   $4 data   $5 data_encoding
INSERT INTO task_queues (range_hash, task_queue_id, range_id, data, data_encoding)
VALUES ($1, $2, $3, $4, $5)
