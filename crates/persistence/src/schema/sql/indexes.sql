-- The indexes of these tables. `key` has the numbers of its columns; those beyond `key_len` are only carried along.
-- $1 names of tables
SELECT tables.relname::text AS table_name,
       indexes.relname::text AS name,
       indkey::text AS key,
       indnkeyatts::integer AS key_len,
       indisunique AS is_unique,
       indisprimary AS is_primary,
       indisvalid AND indisready AS is_valid,
       indpred IS NULL AND indexprs IS NULL AS is_plain
FROM pg_index
JOIN pg_class AS tables ON tables.oid = indrelid
JOIN pg_class AS indexes ON indexes.oid = indexrelid
WHERE tables.relname::text = ANY ($1::text[])
  AND tables.relkind IN ('r', 'p')
  AND pg_table_is_visible(tables.oid)
ORDER BY tables.relname, indexes.relname
