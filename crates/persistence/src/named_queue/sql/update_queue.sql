-- $1 queue_type   $2 queue_name   $3 metadata_payload   $4 metadata_encoding
UPDATE queues
SET metadata_payload = $3, metadata_encoding = $4
WHERE queue_type = $1 AND queue_name = $2
