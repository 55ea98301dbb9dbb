-- $1 shard_id   $2 namespace_id   $3 workflow_id   $4 run_id   $5 how many at most
DELETE FROM signals_requested_sets
WHERE shard_id = $1 AND namespace_id = $2 AND workflow_id = $3 AND run_id = $4 AND signal_id IN (
    SELECT signal_id
    FROM signals_requested_sets
    WHERE shard_id = $1 AND namespace_id = $2 AND workflow_id = $3 AND run_id = $4
    LIMIT $5::bigint
)
