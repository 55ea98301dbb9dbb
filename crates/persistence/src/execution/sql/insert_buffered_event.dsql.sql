-- Whoever adds an event writes the row of the execution too, so two of them never both commit with one number.
-- $1 shard_id   $2 namespace_id   $3 workflow_id   $4 run_id   $5 data   $6 data_encoding
INSERT INTO buffered_events (shard_id, namespace_id, workflow_id, run_id, id, data, data_encoding)
SELECT $1::integer, $2::uuid, $3::varchar, $4::uuid, coalesce(max(id), 0) + 1, $5::bytea, $6::varchar
FROM buffered_events
WHERE shard_id = $1 AND namespace_id = $2 AND workflow_id = $3 AND run_id = $4
