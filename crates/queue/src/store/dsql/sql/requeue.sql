-- Puts items at the tail, ready, whatever they were.   $1 $2 $3 as owned.sql   $4 ids, each once   $5 new ids
UPDATE leasehold_items AS item
   SET id = move.new_id, is_leased = false, lease_deadline = NULL, enqueue_at = NULL
  FROM unnest($4::text[], $5::text[]) AS move (id, new_id)
 WHERE {here} AND item.id = ANY ($4::text[]) AND item.id = move.id AND {owned}
RETURNING item.id, item.expire_deadline, {bytes} AS bytes
