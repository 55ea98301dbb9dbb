-- No row means that there is one by that key already.
-- $1 shard_id   $2 namespace_id   $3 workflow_id
-- $4 run_id   $5 create_request_id   $6 state   $7 status   $8 start_time   $9 last_write_version   $10 data
-- $11 data_encoding
INSERT INTO current_executions
    (shard_id, namespace_id, workflow_id, run_id, create_request_id, state, status, start_time, last_write_version,
     data, data_encoding)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
ON CONFLICT (shard_id, namespace_id, workflow_id) DO NOTHING
