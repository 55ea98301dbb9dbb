-- Records in byte order of names.   $1 first name   $2 namespace, null for all   $3 how many
-- An empty namespace is the default one: Querator's column has that default.
SELECT {columns} FROM queues
 WHERE name COLLATE "C" >= $1 AND ($2::text IS NULL OR coalesce(nullif(namespace, ''), '_system') = $2)
 ORDER BY name COLLATE "C" LIMIT $3
