-- $1 queue_type   $2 queue_name   $3 metadata_payload   $4 metadata_encoding
INSERT INTO queues (queue_type, queue_name, metadata_payload, metadata_encoding)
VALUES ($1, $2, $3, $4)
