-- Deletes leased items, all of them or none.   $1 $2 $3 as owned.sql   $4 ids, each once   $5 how many
-- The test of is_leased is opaque on purpose: the partial index on leased rows is full of dead entries.
WITH {owned},
held AS MATERIALIZED (
    SELECT item.ctid AS place
      FROM (SELECT * FROM unnest($4::text[]) AS wanted (id) LIMIT $5) AS wanted
      JOIN {items} AS item ON item.id = wanted.id
     WHERE item.is_leased::int = 1 AND item.enqueue_at IS NULL),
gone AS (
    DELETE FROM {items} AS item USING held
     WHERE item.ctid = held.place AND (SELECT count(*) FROM held) = $5 AND EXISTS (SELECT FROM owned))
SELECT (SELECT count(*) FROM owned) AS owned, (SELECT count(*) FROM held) AS held
