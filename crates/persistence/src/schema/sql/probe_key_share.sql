-- Shards have numbers above 0.
SELECT range_id
FROM shards
WHERE shard_id = -1
FOR KEY SHARE
