-- The id after the last, and above all that were deleted. Whoever holds the row of the queue is alone with it.
-- $1 queue_type   $2 queue_name   $3 the first id that is not deleted   $4 message_payload   $5 message_encoding
INSERT INTO queue_messages (queue_type, queue_name, queue_partition, message_id, message_payload, message_encoding)
SELECT $1::integer, $2::varchar, 0, greatest(max(message_id) + 1, $3::bigint), $4::bytea, $5::varchar
FROM queue_messages
WHERE queue_type = $1 AND queue_name = $2 AND queue_partition = 0
RETURNING message_id
