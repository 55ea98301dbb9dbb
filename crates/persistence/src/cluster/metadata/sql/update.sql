-- $1 cluster_name   $2 version   $3 data   $4 data_encoding
UPDATE cluster_metadata_info
SET data = $3, data_encoding = $4, version = $2 + 1
WHERE metadata_partition = 0 AND cluster_name = $1 AND version = $2
