-- $1 cluster_name
SELECT cluster_name, data, data_encoding, version
FROM cluster_metadata_info
WHERE metadata_partition = 0 AND cluster_name = $1
