-- The shard is part of the key: one look at the index per shard.   $1 namespace_id   $2 workflow_id   $3 run_id
SELECT execution.shard_id,
       shards.range_id,
       execution.next_event_id,
       execution.db_record_version,
       execution.last_write_version,
       (
           SELECT count(*)
           FROM activity_info_maps AS part
           WHERE part.shard_id = execution.shard_id
             AND part.namespace_id = $1 AND part.workflow_id = $2 AND part.run_id = $3
       ) AS activities,
       (
           SELECT count(*)
           FROM timer_info_maps AS part
           WHERE part.shard_id = execution.shard_id
             AND part.namespace_id = $1 AND part.workflow_id = $2 AND part.run_id = $3
       ) AS timers,
       (
           SELECT count(*)
           FROM child_execution_info_maps AS part
           WHERE part.shard_id = execution.shard_id
             AND part.namespace_id = $1 AND part.workflow_id = $2 AND part.run_id = $3
       ) AS children,
       (
           SELECT count(*)
           FROM request_cancel_info_maps AS part
           WHERE part.shard_id = execution.shard_id
             AND part.namespace_id = $1 AND part.workflow_id = $2 AND part.run_id = $3
       ) AS cancel_requests,
       (
           SELECT count(*)
           FROM signal_info_maps AS part
           WHERE part.shard_id = execution.shard_id
             AND part.namespace_id = $1 AND part.workflow_id = $2 AND part.run_id = $3
       ) AS signals,
       (
           SELECT count(*)
           FROM signals_requested_sets AS part
           WHERE part.shard_id = execution.shard_id
             AND part.namespace_id = $1 AND part.workflow_id = $2 AND part.run_id = $3
       ) AS signals_requested,
       (
           SELECT count(*)
           FROM chasm_node_maps AS part
           WHERE part.shard_id = execution.shard_id
             AND part.namespace_id = $1 AND part.workflow_id = $2 AND part.run_id = $3
       ) AS chasm_nodes,
       (
           SELECT count(*)
           FROM buffered_events AS part
           WHERE part.shard_id = execution.shard_id
             AND part.namespace_id = $1 AND part.workflow_id = $2 AND part.run_id = $3
       ) AS buffered_events
FROM shards
JOIN executions AS execution ON execution.shard_id = shards.shard_id
WHERE execution.namespace_id = $1 AND execution.workflow_id = $2 AND execution.run_id = $3
