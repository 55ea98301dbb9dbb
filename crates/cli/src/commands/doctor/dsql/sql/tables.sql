-- What the tables of these names are like. An index is told by the columns of its key; one that is not valid does not
-- count.   $1 names
SELECT wanted.name,
       made.oid IS NOT NULL AS is_there,
       NULL::text AS comment,
       ARRAY(SELECT attname::text || ' ' || format_type(atttypid, atttypmod)
               FROM pg_attribute
              WHERE attrelid = made.oid AND attnum > 0 AND NOT attisdropped) AS columns,
       ARRAY(SELECT CASE WHEN built.indisunique THEN 'unique ' ELSE '' END
                    || (SELECT string_agg(part.attname::text, ', ' ORDER BY place)
                          FROM unnest(built.indkey::int2[]) WITH ORDINALITY AS key (number, place)
                          JOIN pg_attribute AS part ON part.attrelid = built.indrelid AND part.attnum = key.number
                         WHERE place <= built.indnkeyatts)
               FROM pg_index AS built
              WHERE built.indrelid = made.oid AND built.indisvalid) AS indexes
  FROM unnest($1::text[]) AS wanted (name)
  LEFT JOIN pg_class AS made
    ON made.relname = wanted.name AND made.relkind = 'r' AND pg_table_is_visible(made.oid)
