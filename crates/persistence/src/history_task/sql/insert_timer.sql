-- $1 shard_id   $2 task_ids   $3 data   $4 data_encodings   $5 visibility_timestamps
INSERT INTO timer_tasks (shard_id, visibility_timestamp, task_id, data, data_encoding)
SELECT $1::integer, visibility_timestamp, task_id, data, data_encoding
FROM unnest($2::bigint[], $3::bytea[], $4::text[], $5::timestamp[])
    AS task (task_id, data, data_encoding, visibility_timestamp)
