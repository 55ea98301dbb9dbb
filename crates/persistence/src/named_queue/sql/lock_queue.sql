-- $1 queue_type   $2 queue_name
SELECT metadata_payload, metadata_encoding
FROM queues
WHERE queue_type = $1 AND queue_name = $2
FOR UPDATE
