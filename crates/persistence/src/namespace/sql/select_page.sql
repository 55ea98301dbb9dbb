-- $1 the id before the page, or null   $2 how many
SELECT id, name, notification_version, data, data_encoding, is_global
FROM namespaces
WHERE partition_id = 54321 AND (id > $1 OR $1 IS NULL)
ORDER BY id
LIMIT $2
