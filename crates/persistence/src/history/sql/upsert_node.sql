-- What the same transaction wrote before is replaced, so that an append can be repeated.
-- $1 shard_id   $2 tree_id   $3 branch_id   $4 node_id   $5 negated txn_id   $6 prev_txn_id   $7 data   $8 data_encoding
INSERT INTO history_node (shard_id, tree_id, branch_id, node_id, txn_id, prev_txn_id, data, data_encoding)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
ON CONFLICT (shard_id, tree_id, branch_id, node_id, txn_id) DO UPDATE
SET prev_txn_id = EXCLUDED.prev_txn_id, data = EXCLUDED.data, data_encoding = EXCLUDED.data_encoding
