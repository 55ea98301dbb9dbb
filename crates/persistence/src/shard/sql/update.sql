-- $1 shard_id   $2 previous range_id   $3 range_id   $4 data   $5 data_encoding
UPDATE shards
SET range_id = $3, data = $4, data_encoding = $5
WHERE shard_id = $1 AND range_id = $2
