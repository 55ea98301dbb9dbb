-- $1 queue_type
SELECT data, data_encoding, version
FROM queue_metadata
WHERE queue_type = $1
