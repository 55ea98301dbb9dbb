-- $1 shard_id   $2 namespace_id   $3 workflow_id   $4 run_id   $5 how many at most
DELETE FROM request_cancel_info_maps
WHERE shard_id = $1 AND namespace_id = $2 AND workflow_id = $3 AND run_id = $4 AND initiated_id IN (
    SELECT initiated_id
    FROM request_cancel_info_maps
    WHERE shard_id = $1 AND namespace_id = $2 AND workflow_id = $3 AND run_id = $4
    LIMIT $5::bigint
)
