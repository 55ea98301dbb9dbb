-- $1 cluster_name
DELETE FROM cluster_metadata_info
WHERE metadata_partition = 0 AND cluster_name = $1
