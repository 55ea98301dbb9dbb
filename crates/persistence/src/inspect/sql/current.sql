-- The shard is part of the key: one look at the index per shard.   $1 namespace_id   $2 workflow_id
SELECT current.shard_id,
       current.run_id,
       current.create_request_id,
       current.state,
       current.status,
       current.start_time,
       current.last_write_version
FROM shards
JOIN current_executions AS current ON current.shard_id = shards.shard_id
WHERE current.namespace_id = $1 AND current.workflow_id = $2
