-- $1 shard_id
SELECT range_id, data, data_encoding
FROM shards
WHERE shard_id = $1
