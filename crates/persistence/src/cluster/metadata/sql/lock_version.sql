-- $1 cluster_name
SELECT version
FROM cluster_metadata_info
WHERE metadata_partition = 0 AND cluster_name = $1
FOR UPDATE
