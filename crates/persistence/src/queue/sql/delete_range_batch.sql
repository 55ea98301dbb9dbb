-- The lowest ids of the range, as many as a transaction may delete.
-- $1 queue_type   $2 the id before the first   $3 the last id   $4 how many
DELETE FROM queue
WHERE queue_type = $1
  AND message_id IN (
      SELECT message_id
      FROM queue
      WHERE queue_type = $1 AND message_id > $2 AND message_id <= $3
      ORDER BY message_id
      LIMIT $4
  )
