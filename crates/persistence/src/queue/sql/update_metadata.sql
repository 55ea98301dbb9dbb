-- $1 queue_type   $2 version   $3 data   $4 data_encoding
UPDATE queue_metadata
SET data = $3, data_encoding = $4, version = version + 1
WHERE queue_type = $1 AND version = $2
