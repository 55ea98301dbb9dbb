-- $1 queue_type   $2 data   $3 data_encoding
INSERT INTO queue_metadata (queue_type, data, data_encoding, version)
VALUES ($1, $2, $3, 0)
