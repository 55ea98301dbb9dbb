-- $1 queue_type   $2 message_id   $3 message_payload   $4 message_encoding
INSERT INTO queue (queue_type, message_id, message_payload, message_encoding)
VALUES ($1, $2, $3, $4)
