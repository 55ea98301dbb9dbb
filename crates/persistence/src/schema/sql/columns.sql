-- The columns of these tables, as they are found by their bare names.   $1 names of tables
SELECT relname::text AS table_name,
       attnum::integer AS number,
       attname::text AS name,
       format_type(atttypid, atttypmod) AS kind,
       NOT attnotnull AS is_nullable,
       atthasdef OR attidentity <> '' AS has_default
FROM pg_attribute
JOIN pg_class ON pg_class.oid = attrelid
WHERE relname::text = ANY ($1::text[])
  AND relkind IN ('r', 'p')
  AND pg_table_is_visible(pg_class.oid)
  AND attnum > 0
  AND NOT attisdropped
ORDER BY relname, attnum
