-- Without a lower bound: a message that was once the last, and stayed for that, goes with the others.
-- $1 queue_type   $2 queue_name   $3 the last id
DELETE FROM queue_messages
WHERE queue_type = $1 AND queue_name = $2 AND queue_partition = 0 AND message_id <= $3
