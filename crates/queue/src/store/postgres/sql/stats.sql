-- Counts and ages, in whole microseconds, cut.   $1 now
WITH figures AS (
    SELECT count(*) FILTER (WHERE enqueue_at IS NULL AND NOT is_leased) AS ready,
           count(*) FILTER (WHERE enqueue_at IS NULL AND is_leased) AS leased,
           count(*) FILTER (WHERE enqueue_at IS NOT NULL) AS scheduled,
           sum(extract(epoch FROM $1::timestamptz - created_at)::numeric * 1000000) FILTER (WHERE enqueue_at IS NULL)
               AS age_sum,
           sum(extract(epoch FROM lease_deadline - $1::timestamptz)::numeric * 1000000)
               FILTER (WHERE enqueue_at IS NULL AND is_leased) AS left_sum
      FROM {items})
SELECT ready, leased, scheduled,
       greatest(0, div(coalesce(age_sum, 0), greatest(1, ready + leased)))::bigint AS average_age,
       greatest(0, div(coalesce(left_sum, 0), greatest(1, leased)))::bigint AS average_lease_left,
       (SELECT created_at FROM {items} AS item WHERE {is_ready} ORDER BY id LIMIT 1)
           AS oldest_ready_at
  FROM figures
