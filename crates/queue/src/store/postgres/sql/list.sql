-- Ready and leased items in order.   $1 first id   $2 how many
SELECT {columns} FROM {items} AS item WHERE item.id >= $1 AND item.enqueue_at IS NULL ORDER BY item.id LIMIT $2
