-- $1 id
SELECT name
FROM namespaces
WHERE partition_id = 54321 AND id = $1
