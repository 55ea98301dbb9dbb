-- What is due, the longest due first. The floors are those of deadlines.sql.   $1 queue   $2 partition
-- $3 now   $4 attempts an item gets, 0 for no limit   $5 how many
-- $6 floor of lease deadlines   $7 of expire deadlines   $8 of schedules   $9 whether a lease may lack a deadline
SELECT due.id, due.action FROM (
    (SELECT item.id, item.enqueue_at AS at, 'enqueue' AS action FROM leasehold_items AS item
      WHERE {here} AND item.enqueue_at >= $8 AND item.enqueue_at <= $3
      ORDER BY item.enqueue_at, item.id LIMIT $5)
    UNION ALL
    (SELECT item.id, item.expire_deadline, 'die' FROM leasehold_items AS item
      WHERE {here} AND item.expire_deadline >= $7 AND item.expire_deadline < $3 AND item.expire_deadline <> 'epoch'
        AND item.enqueue_at IS NULL
      ORDER BY item.expire_deadline, item.id LIMIT $5)
    UNION ALL
    -- Past its expire deadline it dies, and is in the other list.
    (SELECT item.id, item.lease_deadline, CASE WHEN $4 > 0 AND item.attempts >= $4 THEN 'die' ELSE 'reclaim' END
       FROM leasehold_items AS item
      WHERE {here} AND item.lease_deadline >= $6 AND item.lease_deadline < $3
        AND item.is_leased AND item.enqueue_at IS NULL
        AND (item.expire_deadline >= $3 OR item.expire_deadline = 'epoch')
      ORDER BY item.lease_deadline, item.id LIMIT $5)
    UNION ALL
    (SELECT item.id, '-infinity', CASE WHEN $4 > 0 AND item.attempts >= $4 THEN 'die' ELSE 'reclaim' END
       FROM leasehold_items AS item
      WHERE $9 AND {here} AND item.lease_deadline IS NULL AND item.is_leased AND item.enqueue_at IS NULL
        AND (item.expire_deadline >= $3 OR item.expire_deadline = 'epoch')
      ORDER BY item.id LIMIT $5)) AS due
 ORDER BY due.at, due.id LIMIT $5
