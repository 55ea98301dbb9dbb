-- The column numbers the events of all executions.
-- $1 shard_id   $2 namespace_id   $3 workflow_id   $4 run_id   $5 data   $6 data_encoding
INSERT INTO buffered_events (shard_id, namespace_id, workflow_id, run_id, data, data_encoding)
VALUES ($1, $2, $3, $4, $5, $6)
