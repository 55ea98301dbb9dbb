-- The next items in order of id, and how many of them have a wanted state.   $1 queue   $2 partition
-- $4 id to start behind   $5 ready   $6 leased   $7 scheduled   $8 how many to look at
SELECT 1::bigint AS owned,
       count(*) FILTER (WHERE $5 AND item.enqueue_at IS NULL AND NOT item.is_leased) AS ready,
       count(*) FILTER (WHERE $6 AND item.enqueue_at IS NULL AND item.is_leased) AS leased,
       count(*) FILTER (WHERE $7 AND item.enqueue_at IS NOT NULL) AS scheduled,
       max(item.id) AS last_id, count(*) AS looked_at
  FROM (SELECT item.id, item.enqueue_at, item.is_leased FROM leasehold_items AS item
         WHERE {here} AND item.id > $4 ORDER BY item.id LIMIT $8) AS item
