-- What the partition holds.   $1 queue   $2 partition
SELECT count(*) FILTER (WHERE enqueue_at IS NULL AND NOT is_leased) AS ready,
       count(*) FILTER (WHERE enqueue_at IS NULL AND is_leased) AS leased,
       count(*) FILTER (WHERE enqueue_at IS NOT NULL) AS scheduled,
       max(id) AS id_max
  FROM leasehold_items
 WHERE queue = $1 AND partition = $2
