-- $1 name
DELETE FROM namespaces
WHERE partition_id = 54321 AND name = $1
