-- The range stays as it is and is not named: a change that names a column of a key is a change of the key.
-- $1 shard_id   $2 range_id   $3 data   $4 data_encoding
UPDATE shards
SET data = $3, data_encoding = $4
WHERE shard_id = $1 AND range_id = $2
