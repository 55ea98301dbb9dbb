-- The next items of the wanted states, in order of id.   $1 queue   $2 partition   $4 id to start behind
-- $5 ready   $6 leased   $7 scheduled   $8 how many
SELECT 1::bigint AS owned,
       count(*) FILTER (WHERE item.enqueue_at IS NULL AND NOT item.is_leased) AS ready,
       count(*) FILTER (WHERE item.enqueue_at IS NULL AND item.is_leased) AS leased,
       count(*) FILTER (WHERE item.enqueue_at IS NOT NULL) AS scheduled,
       max(item.id) AS last_id
  FROM leasehold_items AS item
 WHERE {here} AND item.id = ANY (ARRAY ({next_to_clear}))
