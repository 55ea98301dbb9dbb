-- Looks at the next items in order of id, and deletes those of the wanted states.   $1 $2 $3 as owned.sql
-- $4 id to start behind   $5 ready   $6 leased   $7 scheduled   $8 how many to look at
WITH {owned},
next AS MATERIALIZED (
    SELECT ctid AS place, id, CASE WHEN enqueue_at IS NOT NULL THEN $7 WHEN is_leased THEN $6 ELSE $5 END AS wanted
      FROM {items} WHERE id > $4
     ORDER BY id LIMIT $8),
gone AS (
    DELETE FROM {items} AS item USING next
     WHERE item.ctid = next.place AND next.wanted AND EXISTS (SELECT FROM owned)
    RETURNING item.is_leased, item.enqueue_at)
SELECT (SELECT count(*) FROM owned) AS owned,
       count(*) FILTER (WHERE enqueue_at IS NULL AND NOT is_leased) AS ready,
       count(*) FILTER (WHERE enqueue_at IS NULL AND is_leased) AS leased,
       count(*) FILTER (WHERE enqueue_at IS NOT NULL) AS scheduled,
       (SELECT max(id) FROM next) AS last_id,
       (SELECT count(*) FROM next) AS looked_at
  FROM gone
