-- The next ready items behind the cursor.   $1 cursor   $2 how many
SELECT item.id, item.expire_deadline, {bytes} AS bytes FROM {items} AS item
 WHERE item.id > $1 AND {is_ready}
 ORDER BY item.id LIMIT $2
