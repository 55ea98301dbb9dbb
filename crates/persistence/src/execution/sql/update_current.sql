-- $1 shard_id   $2 namespace_id   $3 workflow_id
-- $4 run_id   $5 create_request_id   $6 state   $7 status   $8 start_time   $9 last_write_version   $10 data
-- $11 data_encoding   $12 expected run_id
UPDATE current_executions
SET run_id = $4,
    create_request_id = $5,
    state = $6,
    status = $7,
    start_time = $8,
    last_write_version = $9,
    data = $10,
    data_encoding = $11
WHERE shard_id = $1 AND namespace_id = $2 AND workflow_id = $3 AND run_id = $12
