-- Deletes items, whatever they are.   $1 $2 $3 as owned.sql   $4 ids   $5 how many
WITH {owned},
gone AS (
    DELETE FROM {items} AS item
     USING (SELECT * FROM unnest($4::text[]) AS wanted (id) LIMIT $5) AS wanted
     WHERE item.id = wanted.id AND EXISTS (SELECT FROM owned)
    RETURNING item.is_leased, item.enqueue_at)
SELECT (SELECT count(*) FROM owned) AS owned,
       count(*) FILTER (WHERE enqueue_at IS NULL AND NOT is_leased) AS ready,
       count(*) FILTER (WHERE enqueue_at IS NULL AND is_leased) AS leased,
       count(*) FILTER (WHERE enqueue_at IS NOT NULL) AS scheduled
  FROM gone
