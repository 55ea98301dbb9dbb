-- $1 shard_id   $2 tree_id
SELECT shard_id, tree_id, branch_id, data, data_encoding
FROM history_tree
WHERE shard_id = $1 AND tree_id = $2
ORDER BY branch_id
