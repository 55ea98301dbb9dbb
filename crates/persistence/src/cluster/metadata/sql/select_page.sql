-- $1 the name before the page   $2 how many
SELECT cluster_name, data, data_encoding, version
FROM cluster_metadata_info
WHERE metadata_partition = 0 AND cluster_name > $1
ORDER BY cluster_name
LIMIT $2
