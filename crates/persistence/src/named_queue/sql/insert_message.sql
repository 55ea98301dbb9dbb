-- $1 queue_type   $2 queue_name   $3 message_id   $4 message_payload   $5 message_encoding
INSERT INTO queue_messages (queue_type, queue_name, queue_partition, message_id, message_payload, message_encoding)
VALUES ($1, $2, 0, $3, $4, $5)
