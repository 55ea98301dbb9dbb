-- Whether anything of the execution but its own row is left.
-- $1 shard_id   $2 namespace_id   $3 workflow_id   $4 run_id
SELECT
    EXISTS (SELECT 1 FROM activity_info_maps WHERE shard_id = $1 AND namespace_id = $2 AND workflow_id = $3 AND run_id = $4)
    OR EXISTS (SELECT 1 FROM timer_info_maps WHERE shard_id = $1 AND namespace_id = $2 AND workflow_id = $3 AND run_id = $4)
    OR EXISTS (SELECT 1 FROM child_execution_info_maps WHERE shard_id = $1 AND namespace_id = $2 AND workflow_id = $3 AND run_id = $4)
    OR EXISTS (SELECT 1 FROM request_cancel_info_maps WHERE shard_id = $1 AND namespace_id = $2 AND workflow_id = $3 AND run_id = $4)
    OR EXISTS (SELECT 1 FROM signal_info_maps WHERE shard_id = $1 AND namespace_id = $2 AND workflow_id = $3 AND run_id = $4)
    OR EXISTS (SELECT 1 FROM signals_requested_sets WHERE shard_id = $1 AND namespace_id = $2 AND workflow_id = $3 AND run_id = $4)
    OR EXISTS (SELECT 1 FROM chasm_node_maps WHERE shard_id = $1 AND namespace_id = $2 AND workflow_id = $3 AND run_id = $4)
    OR EXISTS (SELECT 1 FROM buffered_events WHERE shard_id = $1 AND namespace_id = $2 AND workflow_id = $3 AND run_id = $4)
    AS is_left
