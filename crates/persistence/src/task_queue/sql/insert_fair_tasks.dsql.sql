-- $1 range_hash   $2 task_queue_id   $3 task_id   $4 data   $5 data_encoding   $6 pass, all of them lists
INSERT INTO tasks_v2 (range_hash, task_queue_id, task_id, data, data_encoding, pass)
SELECT *
FROM unnest($1::bigint[], $2::uuid[], $3::bigint[], $4::bytea[], $5::text[], $6::bigint[])
