-- What the simulator has to know of one table, as one JSON text; no row: no such table.
-- {schemas} where to look, in order   {name} the table
SELECT json_build_object(
  'oid', c.oid::int8,
  'kind', c.relkind,
  'columns', (
    SELECT coalesce(json_agg(json_build_object('name', a.attname, 'type', t.typname, 'length', t.typlen)
                             ORDER BY a.attnum), '[]')
      FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
     WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped),
  'primary_key', (
    SELECT coalesce(json_agg(a.attname ORDER BY k.place), '[]')
      FROM pg_index i CROSS JOIN LATERAL unnest(i.indkey::int2[]) WITH ORDINALITY AS k(attnum, place)
      JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.attnum
     WHERE i.indrelid = c.oid AND i.indisprimary AND k.place <= i.indnkeyatts),
  'key_columns', (
    SELECT coalesce(json_agg(DISTINCT a.attname), '[]')
      FROM pg_index i CROSS JOIN LATERAL unnest(i.indkey::int2[]) WITH ORDINALITY AS k(attnum, place)
      JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.attnum
     WHERE i.indrelid = c.oid AND i.indisunique AND i.indisvalid AND i.indpred IS NULL AND i.indexprs IS NULL
       AND k.place <= i.indnkeyatts),
  'foreign_keys', (
    SELECT coalesce(json_agg(json_build_object(
             'parent', f.confrelid::int8,
             'columns', (SELECT json_agg(a.attname ORDER BY k.place)
                           FROM unnest(f.conkey) WITH ORDINALITY AS k(attnum, place)
                           JOIN pg_attribute a ON a.attrelid = f.conrelid AND a.attnum = k.attnum),
             'parent_columns', (SELECT json_agg(a.attname ORDER BY k.place)
                                  FROM unnest(f.confkey) WITH ORDINALITY AS k(attnum, place)
                                  JOIN pg_attribute a ON a.attrelid = f.confrelid AND a.attnum = k.attnum))), '[]')
      FROM pg_constraint f WHERE f.conrelid = c.oid AND f.contype = 'f'),
  'referenced', (
    SELECT coalesce(json_agg((SELECT json_agg(a.attname)
                                FROM unnest(f.confkey) AS k(attnum)
                                JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.attnum)), '[]')
      FROM pg_constraint f WHERE f.confrelid = c.oid AND f.contype = 'f')
)::text
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
 WHERE c.relname = {name} AND n.nspname = ANY ({schemas}) AND c.relkind IN ('r', 'v', 'p', 'm')
 ORDER BY array_position({schemas}, n.nspname::text)
 LIMIT 1
