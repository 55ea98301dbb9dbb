-- What keeps dead rows alive: transactions of this database that are open for longer, prepared ones, and slots whose
-- consumer is away. The text of statements is left out: it may have secrets.   $1 seconds
SELECT 'session' AS kind, pid::text AS name, coalesce(usename::text, '') || ', ' || coalesce(state, '') AS who,
       extract(epoch FROM clock_timestamp() - xact_start)::float8 AS seconds
  FROM pg_stat_activity
 WHERE datname = current_database() AND pid <> pg_backend_pid()
   AND xact_start < clock_timestamp() - make_interval(secs => $1)
UNION ALL
SELECT 'prepared', gid, owner::text, extract(epoch FROM clock_timestamp() - prepared)::float8
  FROM pg_prepared_xacts
 WHERE database = current_database() AND prepared < clock_timestamp() - make_interval(secs => $1)
UNION ALL
SELECT 'slot', slot_name::text, 'xmin is ' || age(xmin)::text || ' transactions old', 0::float8
  FROM pg_replication_slots
 WHERE xmin IS NOT NULL AND NOT active
 ORDER BY seconds DESC
 LIMIT 20
