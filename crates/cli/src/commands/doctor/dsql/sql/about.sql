-- What the cluster says it is, and whether this user may make tables.
SELECT current_setting('server_version') AS version,
       current_schema()::text AS schema,
       coalesce(has_schema_privilege(current_schema(), 'CREATE'), false) AS may_create
