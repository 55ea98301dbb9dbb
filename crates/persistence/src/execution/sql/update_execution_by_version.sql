-- $1 shard_id   $2 namespace_id   $3 workflow_id   $4 run_id   $5 next_event_id   $6 last_write_version
-- $7 data   $8 data_encoding   $9 state   $10 state_encoding   $11 db_record_version   $12 expected db_record_version
UPDATE executions
SET next_event_id = $5,
    last_write_version = $6,
    data = $7,
    data_encoding = $8,
    state = $9,
    state_encoding = $10,
    db_record_version = $11
WHERE shard_id = $1 AND namespace_id = $2 AND workflow_id = $3 AND run_id = $4 AND db_record_version = $12
