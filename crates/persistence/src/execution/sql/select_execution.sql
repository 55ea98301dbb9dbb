-- $1 shard_id   $2 namespace_id   $3 workflow_id   $4 run_id
SELECT next_event_id, last_write_version, data, data_encoding, state, state_encoding, db_record_version
FROM executions
WHERE shard_id = $1 AND namespace_id = $2 AND workflow_id = $3 AND run_id = $4
