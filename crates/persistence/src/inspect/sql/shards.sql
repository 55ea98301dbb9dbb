-- $1 the last shard before, or null   $2 how many
SELECT shard_id, range_id, octet_length(data)::bigint AS data_bytes
FROM shards
WHERE $1::integer IS NULL OR shard_id > $1
ORDER BY shard_id
LIMIT $2
