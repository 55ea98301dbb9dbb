-- The earliest deadlines. Those below the floors belong to rows that are gone, whose dead entries stand at the head of
-- each index until a vacuum may remove them: the scan starts behind them.
-- $1 floor of lease deadlines   $2 of expire deadlines   $3 of schedules   $4 whether a lease may lack a deadline
SELECT coalesce(
           (SELECT '-infinity'::timestamptz FROM {items}
             WHERE $4 AND is_leased AND lease_deadline IS NULL AND enqueue_at IS NULL LIMIT 1),
           (SELECT lease_deadline FROM {items}
             WHERE is_leased AND enqueue_at IS NULL AND lease_deadline >= $1
             ORDER BY lease_deadline LIMIT 1)) AS lease,
       (SELECT expire_deadline FROM {items}
         WHERE expire_deadline >= $2 AND expire_deadline <> 'epoch' AND enqueue_at IS NULL
         ORDER BY expire_deadline LIMIT 1) AS expire,
       (SELECT enqueue_at FROM {items}
         WHERE enqueue_at IS NOT NULL AND enqueue_at >= $3
         ORDER BY enqueue_at LIMIT 1) AS enqueue
