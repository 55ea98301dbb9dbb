-- Puts items at the tail, ready, whatever they were.   $1 $2 $3 as owned.sql   $4 ids, each once   $5 new ids   $6 how many
WITH {owned}
UPDATE {items} AS item
   SET id = move.new_id, is_leased = false, lease_deadline = NULL, enqueue_at = NULL
  FROM (SELECT * FROM unnest($4::text[], $5::text[]) AS move (id, new_id) LIMIT $6) AS move
 WHERE item.id = move.id AND EXISTS (SELECT FROM owned)
RETURNING item.id, item.expire_deadline, {bytes} AS bytes
