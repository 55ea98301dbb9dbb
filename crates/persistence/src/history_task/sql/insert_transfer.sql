-- $1 shard_id   $2 task_ids   $3 data   $4 data_encodings
INSERT INTO transfer_tasks (shard_id, task_id, data, data_encoding)
SELECT $1::integer, task_id, data, data_encoding
FROM unnest($2::bigint[], $3::bytea[], $4::text[]) AS task (task_id, data, data_encoding)
