-- Indexes that are being built, or whose build failed.   $1 names of tables
SELECT index.relname::text AS name, made.relname::text AS of_table
  FROM pg_index AS built
  JOIN pg_class AS index ON index.oid = built.indexrelid
  JOIN pg_class AS made ON made.oid = built.indrelid
 WHERE NOT built.indisvalid AND made.relname = ANY ($1::text[]) AND pg_table_is_visible(made.oid)
 ORDER BY index.relname
