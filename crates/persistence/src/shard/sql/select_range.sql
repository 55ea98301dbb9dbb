-- $1 shard_id
SELECT range_id
FROM shards
WHERE shard_id = $1
