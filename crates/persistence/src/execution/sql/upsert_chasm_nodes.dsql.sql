-- The key is not named in SET: it stays as it is, and naming it would count as a change of it.
-- $1 shard_id   $2 namespace_id   $3 workflow_id   $4 run_id
-- $5 paths   $6 metadata   $7 metadata_encodings   $8 data   $9 data_encodings
INSERT INTO chasm_node_maps
    (shard_id, namespace_id, workflow_id, run_id, chasm_path, metadata, metadata_encoding, data, data_encoding)
SELECT $1, $2, $3, $4, chasm_path, metadata, metadata_encoding, data, data_encoding
FROM unnest($5::text[], $6::bytea[], $7::text[], $8::bytea[], $9::text[])
    AS entry (chasm_path, metadata, metadata_encoding, data, data_encoding)
ON CONFLICT (shard_id, namespace_id, workflow_id, run_id, chasm_path)
DO UPDATE SET
    metadata = EXCLUDED.metadata,
    metadata_encoding = EXCLUDED.metadata_encoding,
    data = EXCLUDED.data,
    data_encoding = EXCLUDED.data_encoding
