-- The earliest deadlines.   $1 queue   $2 partition
-- $3 floor of lease deadlines   $4 of expire deadlines   $5 of schedules   $6 whether a lease may lack a deadline
SELECT coalesce(
           (SELECT '-infinity'::timestamptz FROM leasehold_items AS item
             WHERE $6 AND {here} AND item.lease_deadline IS NULL AND item.is_leased AND item.enqueue_at IS NULL LIMIT 1),
           (SELECT item.lease_deadline FROM leasehold_items AS item
             WHERE {here} AND item.lease_deadline >= $3 AND item.is_leased AND item.enqueue_at IS NULL
             ORDER BY item.lease_deadline LIMIT 1)) AS lease,
       (SELECT item.expire_deadline FROM leasehold_items AS item
         WHERE {here} AND item.expire_deadline >= $4 AND item.expire_deadline <> 'epoch' AND item.enqueue_at IS NULL
         ORDER BY item.expire_deadline LIMIT 1) AS expire,
       (SELECT item.enqueue_at FROM leasehold_items AS item
         WHERE {here} AND item.enqueue_at >= $5
         ORDER BY item.enqueue_at LIMIT 1) AS enqueue
