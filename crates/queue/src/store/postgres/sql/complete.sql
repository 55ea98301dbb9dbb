-- Deletes leased items, all of them or none.   $1 $2 $3 as owned.sql   $4 ids, each once   $5 how many
WITH {owned},
held AS MATERIALIZED (
    SELECT item.ctid AS place
      FROM (SELECT * FROM unnest($4::text[]) AS wanted (id) LIMIT $5) AS wanted
      JOIN {items} AS item ON item.id = wanted.id
     WHERE {is_held}),
gone AS (
    DELETE FROM {items} AS item USING held
     WHERE item.ctid = held.place AND (SELECT count(*) FROM held) = $5 AND EXISTS (SELECT FROM owned))
SELECT (SELECT count(*) FROM owned) AS owned, (SELECT count(*) FROM held) AS held
