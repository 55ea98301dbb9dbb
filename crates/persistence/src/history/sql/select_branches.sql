-- $1 last shard_id   $2 last tree_id   $3 last branch_id   $4 how many at most
SELECT shard_id, tree_id, branch_id, data, data_encoding
FROM history_tree
WHERE (shard_id, tree_id, branch_id) > ($1, $2, $3)
ORDER BY shard_id, tree_id, branch_id
LIMIT $4
