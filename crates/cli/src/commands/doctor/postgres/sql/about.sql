-- What the server is, and whether it keeps what it was told.
SELECT current_setting('server_version') AS version,
       current_setting('server_version_num')::int AS version_number,
       pg_is_in_recovery() AS is_replica,
       current_setting('default_transaction_read_only')::bool AS is_read_only,
       current_setting('fsync')::bool AS fsync,
       current_setting('full_page_writes')::bool AS full_page_writes,
       current_setting('synchronous_commit') AS synchronous_commit,
       current_setting('autovacuum')::bool AS autovacuum,
       current_schema()::text AS schema,
       coalesce(has_schema_privilege(current_schema(), 'CREATE'), false) AS may_create
