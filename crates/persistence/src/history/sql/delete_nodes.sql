-- $1 shard_id   $2 tree_id   $3 branch_id   $4 first node_id
DELETE FROM history_node
WHERE shard_id = $1 AND tree_id = $2 AND branch_id = $3 AND node_id >= $4
