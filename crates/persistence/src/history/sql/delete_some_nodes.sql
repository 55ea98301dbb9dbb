-- Up to the last of the lowest: found once. A list of keys would be looked through for every row.
-- $1 shard_id   $2 tree_id   $3 branch_id   $4 first node_id   $5 how many at most
DELETE FROM history_node
WHERE shard_id = $1 AND tree_id = $2 AND branch_id = $3 AND node_id >= $4 AND (node_id, txn_id) <= (
    SELECT node_id, txn_id
    FROM (
        SELECT node_id, txn_id
        FROM history_node
        WHERE shard_id = $1 AND tree_id = $2 AND branch_id = $3 AND node_id >= $4
        ORDER BY node_id, txn_id
        LIMIT $5
    ) AS lowest
    ORDER BY node_id DESC, txn_id DESC
    LIMIT 1
)
