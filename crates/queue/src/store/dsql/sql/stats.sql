-- Counts and ages, in whole microseconds, cut.   $1 queue   $2 partition   $3 now
WITH figures AS (
    SELECT count(*) FILTER (WHERE enqueue_at IS NULL AND NOT is_leased) AS ready,
           count(*) FILTER (WHERE enqueue_at IS NULL AND is_leased) AS leased,
           count(*) FILTER (WHERE enqueue_at IS NOT NULL) AS scheduled,
           sum(extract(epoch FROM $3::timestamptz - created_at)::numeric * 1000000) FILTER (WHERE enqueue_at IS NULL)
               AS age_sum,
           sum(extract(epoch FROM lease_deadline - $3::timestamptz)::numeric * 1000000)
               FILTER (WHERE enqueue_at IS NULL AND is_leased) AS left_sum
      FROM leasehold_items AS item
     WHERE {here})
SELECT ready, leased, scheduled,
       greatest(0, div(coalesce(age_sum, 0), greatest(1, ready + leased)))::bigint AS average_age,
       greatest(0, div(coalesce(left_sum, 0), greatest(1, leased)))::bigint AS average_lease_left,
       (SELECT item.created_at FROM leasehold_items AS item
         WHERE {here} AND NOT item.is_leased AND item.enqueue_at IS NULL ORDER BY item.id LIMIT 1) AS oldest_ready_at
  FROM figures
