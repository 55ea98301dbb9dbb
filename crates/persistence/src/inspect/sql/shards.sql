-- $1 the last shard before, or null   $2 how many
SELECT shard_id, range_id, data, data_encoding
FROM shards
WHERE $1::integer IS NULL OR shard_id > $1
ORDER BY shard_id
LIMIT $2
