-- The earliest deadlines. Those below the floors belong to rows that are gone, whose dead entries stand at the head of
-- each index until a vacuum may remove them: the scan starts behind them.
-- $1 floor of lease deadlines   $2 of expire deadlines   $3 of schedules   $4 whether a lease may lack a deadline
SELECT coalesce(
           (SELECT '-infinity'::timestamptz FROM {items} AS item
             WHERE $4 AND item.is_leased AND item.lease_deadline IS NULL AND {is_held} LIMIT 1),
           (SELECT item.lease_deadline FROM {items} AS item
             WHERE item.is_leased AND item.lease_deadline >= $1 AND {is_held}
             ORDER BY item.lease_deadline LIMIT 1)) AS lease,
       (SELECT item.expire_deadline FROM {items} AS item
         WHERE item.expire_deadline >= $2 AND item.expire_deadline <> 'epoch' AND {is_unscheduled}
         ORDER BY item.expire_deadline LIMIT 1) AS expire,
       (SELECT item.enqueue_at FROM {items} AS item
         WHERE item.enqueue_at IS NOT NULL AND item.enqueue_at >= $3
         ORDER BY item.enqueue_at LIMIT 1) AS enqueue
