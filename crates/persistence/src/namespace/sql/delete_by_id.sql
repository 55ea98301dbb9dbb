-- $1 id
DELETE FROM namespaces
WHERE partition_id = 54321 AND id = $1
