-- $1 shard_id   $2 range_id   $3 data   $4 data_encoding
INSERT INTO shards (shard_id, range_id, data, data_encoding)
VALUES ($1, $2, $3, $4)
