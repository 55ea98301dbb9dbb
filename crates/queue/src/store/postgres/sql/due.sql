-- What is due, the longest due first. The floors are those of deadlines.sql.
-- $1 now   $2 attempts an item gets, 0 for no limit   $3 how many
-- $4 floor of lease deadlines   $5 of expire deadlines   $6 of schedules   $7 whether a lease may lack a deadline
SELECT due.id, due.action FROM (
    (SELECT id, enqueue_at AS at, 'enqueue' AS action FROM {items}
      WHERE enqueue_at IS NOT NULL AND enqueue_at >= $6 AND enqueue_at <= $1
      ORDER BY enqueue_at, id LIMIT $3)
    UNION ALL
    (SELECT id, expire_deadline, 'die' FROM {items}
      WHERE expire_deadline >= $5 AND expire_deadline < $1 AND expire_deadline <> 'epoch' AND enqueue_at IS NULL
      ORDER BY expire_deadline, id LIMIT $3)
    UNION ALL
    -- Past its expire deadline it dies, and is in the other list.
    (SELECT id, lease_deadline, CASE WHEN $2 > 0 AND attempts >= $2 THEN 'die' ELSE 'reclaim' END FROM {items}
      WHERE is_leased AND enqueue_at IS NULL AND lease_deadline >= $4 AND lease_deadline < $1
        AND (expire_deadline >= $1 OR expire_deadline = 'epoch')
      ORDER BY lease_deadline, id LIMIT $3)
    UNION ALL
    (SELECT id, '-infinity', CASE WHEN $2 > 0 AND attempts >= $2 THEN 'die' ELSE 'reclaim' END FROM {items}
      WHERE $7 AND is_leased AND enqueue_at IS NULL AND lease_deadline IS NULL
        AND (expire_deadline >= $1 OR expire_deadline = 'epoch')
      ORDER BY id LIMIT $3)) AS due
 ORDER BY due.at, due.id LIMIT $3
