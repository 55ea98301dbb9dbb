-- Rows that are gone and still take space.   $1 names of tables, as they are written in the catalogue
SELECT relname::text AS name, n_live_tup AS live, n_dead_tup AS dead, pg_total_relation_size(relid) AS bytes,
       greatest(last_vacuum, last_autovacuum)::text AS vacuumed_at
  FROM pg_stat_user_tables
 WHERE relid IN (SELECT to_regclass(quote_ident(name))::oid FROM unnest($1::text[]) AS wanted (name))
 ORDER BY n_dead_tup DESC
