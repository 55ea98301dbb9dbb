-- $1 shard_id   $2 tree_id   $3 branch_id   $4 last node_id   $5 last negated txn_id   $6 first node_id   $7 how many at most
SELECT node_id, txn_id, prev_txn_id, data, data_encoding
FROM history_node
WHERE shard_id = $1 AND tree_id = $2 AND branch_id = $3 AND (node_id, txn_id) < ($4, $5) AND node_id >= $6
ORDER BY node_id DESC, txn_id DESC
LIMIT $7
