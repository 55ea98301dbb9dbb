-- The key is not named in SET: it stays as it is, and naming it would count as a change of it.
-- $1 shard_id   $2 namespace_id   $3 workflow_id   $4 run_id   $5 ids   $6 data   $7 data_encodings
INSERT INTO request_cancel_info_maps (shard_id, namespace_id, workflow_id, run_id, initiated_id, data, data_encoding)
SELECT $1, $2, $3, $4, initiated_id, data, data_encoding
FROM unnest($5::bigint[], $6::bytea[], $7::text[]) AS entry (initiated_id, data, data_encoding)
ON CONFLICT (shard_id, namespace_id, workflow_id, run_id, initiated_id)
DO UPDATE SET data = EXCLUDED.data, data_encoding = EXCLUDED.data_encoding
