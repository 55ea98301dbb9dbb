-- $1 cluster_name   $2 data   $3 data_encoding
INSERT INTO cluster_metadata_info (metadata_partition, cluster_name, data, data_encoding, version)
VALUES (0, $1, $2, $3, 1)
