-- The next ready items behind the cursor.   $1 queue   $2 partition   $3 cursor   $4 how many
SELECT item.id, item.expire_deadline, {bytes} AS bytes FROM leasehold_items AS item
 WHERE {here} AND item.id > $3 AND NOT item.is_leased AND item.enqueue_at IS NULL
 ORDER BY item.id LIMIT $4
