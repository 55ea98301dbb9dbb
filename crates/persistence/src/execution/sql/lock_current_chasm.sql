-- $1 shard_id   $2 namespace_id   $3 business_id   $4 archetype_id
SELECT run_id, create_request_id, state, status, start_time, last_write_version, data, data_encoding
FROM current_chasm_executions
WHERE shard_id = $1 AND namespace_id = $2 AND business_id = $3 AND archetype_id = $4
FOR UPDATE
