-- $1 shard_id   $2 tree_id   $3 branch_id   $4 data   $5 data_encoding
INSERT INTO history_tree (shard_id, tree_id, branch_id, data, data_encoding)
VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (shard_id, tree_id, branch_id) DO UPDATE
SET data = EXCLUDED.data, data_encoding = EXCLUDED.data_encoding
