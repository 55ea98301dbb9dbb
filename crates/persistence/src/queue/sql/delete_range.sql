-- $1 queue_type   $2 the id before the first   $3 the last id
DELETE FROM queue
WHERE queue_type = $1 AND message_id > $2 AND message_id <= $3
