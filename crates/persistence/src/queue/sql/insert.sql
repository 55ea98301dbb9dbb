-- The id after the last, and above every ack level. Whoever holds the row of the ack levels is alone with it.
-- $1 queue_type   $2 the first id above the ack levels   $3 message_payload   $4 message_encoding
INSERT INTO queue (queue_type, message_id, message_payload, message_encoding)
SELECT $1::integer, greatest(max(message_id) + 1, $2::bigint), $3::bytea, $4::varchar
FROM queue
WHERE queue_type = $1
RETURNING message_id
