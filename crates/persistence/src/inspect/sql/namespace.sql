-- $1 name
SELECT id
FROM namespaces
WHERE name = $1
