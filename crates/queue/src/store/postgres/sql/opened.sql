-- What the partition holds.
SELECT count(*) FILTER (WHERE enqueue_at IS NULL AND NOT is_leased) AS ready,
       count(*) FILTER (WHERE enqueue_at IS NULL AND is_leased) AS leased,
       count(*) FILTER (WHERE enqueue_at IS NOT NULL) AS scheduled,
       (SELECT max(id) FROM {items}) AS id_max
  FROM {items}
