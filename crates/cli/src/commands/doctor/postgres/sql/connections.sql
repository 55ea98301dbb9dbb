-- How many connections there may be, and how many there are.
SELECT current_setting('max_connections')::bigint - current_setting('superuser_reserved_connections')::bigint AS limit_all,
       (SELECT sum(numbackends) FROM pg_stat_database)::bigint AS used_all,
       (SELECT datconnlimit::bigint FROM pg_database WHERE datname = current_database()) AS limit_database,
       (SELECT numbackends::bigint FROM pg_stat_database WHERE datname = current_database()) AS used_database,
       (SELECT rolconnlimit::bigint FROM pg_roles WHERE rolname = current_user) AS limit_user,
       (SELECT count(*) FROM pg_stat_activity WHERE usename = current_user) AS used_user
