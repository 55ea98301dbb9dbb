-- $1 queue_type   $2 message_id
DELETE FROM queue
WHERE queue_type = $1 AND message_id = $2
