-- No row means that there is one by that key already.
-- $1 shard_id   $2 namespace_id   $3 business_id   $4 archetype_id
-- $5 run_id   $6 create_request_id   $7 state   $8 status   $9 start_time   $10 last_write_version   $11 data
-- $12 data_encoding
INSERT INTO current_chasm_executions
    (shard_id, namespace_id, business_id, archetype_id, run_id, create_request_id, state, status, start_time, last_write_version,
     data, data_encoding)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
ON CONFLICT (shard_id, namespace_id, business_id, archetype_id) DO NOTHING
