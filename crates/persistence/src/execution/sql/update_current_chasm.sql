-- $1 shard_id   $2 namespace_id   $3 business_id   $4 archetype_id
-- $5 run_id   $6 create_request_id   $7 state   $8 status   $9 start_time   $10 last_write_version   $11 data
-- $12 data_encoding   $13 expected run_id
UPDATE current_chasm_executions
SET run_id = $5,
    create_request_id = $6,
    state = $7,
    status = $8,
    start_time = $9,
    last_write_version = $10,
    data = $11,
    data_encoding = $12
WHERE shard_id = $1 AND namespace_id = $2 AND business_id = $3 AND archetype_id = $4 AND run_id = $13
