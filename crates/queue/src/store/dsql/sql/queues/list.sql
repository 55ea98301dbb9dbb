-- Records in byte order of names: the database has no other.   $1 first name   $2 namespace, null for all   $3 how many
SELECT {columns} FROM queues
 WHERE name >= $1 AND ($2::text IS NULL OR coalesce(nullif(namespace, ''), '_system') = $2)
 ORDER BY name LIMIT $3
