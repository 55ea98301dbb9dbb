-- $1 id   $2 notification_version   $3 data   $4 data_encoding   $5 is_global
UPDATE namespaces
SET notification_version = $2, data = $3, data_encoding = $4, is_global = $5
WHERE partition_id = 54321 AND id = $1
