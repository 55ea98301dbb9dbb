-- $1 id
SELECT id, name, notification_version, data, data_encoding, is_global
FROM namespaces
WHERE partition_id = 54321 AND id = $1
