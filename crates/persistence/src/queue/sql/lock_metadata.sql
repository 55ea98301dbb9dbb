-- $1 queue_type
SELECT data, data_encoding
FROM queue_metadata
WHERE queue_type = $1
FOR UPDATE
