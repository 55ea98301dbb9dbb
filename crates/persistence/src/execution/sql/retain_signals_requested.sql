-- What is not among the ids goes.
-- $1 shard_id   $2 namespace_id   $3 workflow_id   $4 run_id   $5 ids
DELETE FROM signals_requested_sets
WHERE shard_id = $1 AND namespace_id = $2 AND workflow_id = $3 AND run_id = $4 AND NOT signal_id = ANY ($5::text[])
