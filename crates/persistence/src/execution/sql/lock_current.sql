-- $1 shard_id   $2 namespace_id   $3 workflow_id
SELECT run_id, create_request_id, state, status, start_time, last_write_version, data, data_encoding
FROM current_executions
WHERE shard_id = $1 AND namespace_id = $2 AND workflow_id = $3
FOR UPDATE
