-- $1 queue_type   $2 the id before the first   $3 the last id   $4 how many
SELECT message_id, message_payload, message_encoding
FROM queue
WHERE queue_type = $1 AND message_id > $2 AND message_id <= $3
ORDER BY message_id
LIMIT $4
