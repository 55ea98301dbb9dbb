-- $1 shard_id   $2 namespace_id   $3 workflow_id   $4 run_id   $5 ids
INSERT INTO signals_requested_sets (shard_id, namespace_id, workflow_id, run_id, signal_id)
SELECT $1, $2, $3, $4, signal_id
FROM unnest($5::text[]) AS entry (signal_id)
ON CONFLICT (shard_id, namespace_id, workflow_id, run_id, signal_id) DO NOTHING
