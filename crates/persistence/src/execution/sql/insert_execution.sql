-- No row means that there is one by that key already.
-- $1 shard_id   $2 namespace_id   $3 workflow_id   $4 run_id   $5 next_event_id   $6 last_write_version
-- $7 data   $8 data_encoding   $9 state   $10 state_encoding   $11 db_record_version
INSERT INTO executions
    (shard_id, namespace_id, workflow_id, run_id, next_event_id, last_write_version, data, data_encoding, state,
     state_encoding, db_record_version)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
ON CONFLICT (shard_id, namespace_id, workflow_id, run_id) DO NOTHING
