-- What the tables of these names are like. An index is told by its first column; one that is not valid does not count.
-- $1 names, as they are written in the catalogue
SELECT wanted.name,
       relation.oid IS NOT NULL AS is_there,
       obj_description(relation.oid, 'pg_class') AS comment,
       ARRAY(SELECT attname::text || ' ' || format_type(atttypid, atttypmod)
               FROM pg_attribute
              WHERE attrelid = relation.oid AND attnum > 0 AND NOT attisdropped) AS columns,
       ARRAY(SELECT CASE WHEN indisunique THEN 'unique ' ELSE '' END || attname::text
               FROM pg_index
               JOIN pg_attribute ON attrelid = indrelid AND attnum = indkey[0]
              WHERE indrelid = relation.oid AND indisvalid AND indisready) AS indexes
  FROM unnest($1::text[]) AS wanted (name)
  LEFT JOIN pg_class AS relation ON relation.oid = to_regclass(quote_ident(wanted.name))
