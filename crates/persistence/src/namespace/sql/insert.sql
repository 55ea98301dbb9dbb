-- $1 id   $2 name   $3 notification_version   $4 data   $5 data_encoding   $6 is_global
INSERT INTO namespaces (partition_id, id, name, notification_version, data, data_encoding, is_global)
VALUES (54321, $1, $2, $3, $4, $5, $6)
