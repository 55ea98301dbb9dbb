-- $1 queue_type   $2 queue_name   $3 the first id   $4 how many
SELECT message_id, message_payload, message_encoding, metadata_payload, metadata_encoding
FROM queue_messages
JOIN queues USING (queue_type, queue_name)
WHERE queue_type = $1 AND queue_name = $2 AND queue_partition = 0 AND message_id >= $3
ORDER BY message_id
LIMIT $4
