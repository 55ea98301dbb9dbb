-- $1 shard_id   $2 namespace_id   $3 workflow_id   $4 run_id
SELECT initiated_id AS id, data, data_encoding
FROM child_execution_info_maps
WHERE shard_id = $1 AND namespace_id = $2 AND workflow_id = $3 AND run_id = $4
