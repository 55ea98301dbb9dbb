-- $1 range_hash   $2 task_queue_id   $3 task_id   $4 data   $5 data_encoding, all of them lists
INSERT INTO tasks (range_hash, task_queue_id, task_id, data, data_encoding)
SELECT *
FROM unnest($1::bigint[], $2::bytea[], $3::bigint[], $4::bytea[], $5::text[])
