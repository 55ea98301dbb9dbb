-- A current execution whose run is gone is none, and its version is that of the run. DSQL locks one table at a time.
-- $1 shard_id   $2 namespace_id   $3 workflow_id
SELECT
    held.run_id,
    held.create_request_id,
    held.state,
    held.status,
    held.start_time,
    run.last_write_version,
    held.data,
    held.data_encoding
FROM current_executions AS held
JOIN executions AS run
    ON run.shard_id = held.shard_id
    AND run.namespace_id = held.namespace_id
    AND run.workflow_id = held.workflow_id
    AND run.run_id = held.run_id
WHERE held.shard_id = $1 AND held.namespace_id = $2 AND held.workflow_id = $3
FOR UPDATE
