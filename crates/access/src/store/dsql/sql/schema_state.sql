-- How many of the tables are there, and of their indexes, built: who only uses them need not be allowed to make any.
SELECT (SELECT count(*) FROM pg_class AS made
         WHERE made.relkind = 'r' AND pg_table_is_visible(made.oid)
           AND made.relname IN ('leasehold_namespaces', 'leasehold_users', 'leasehold_api_keys', 'leasehold_roles',
                                'leasehold_role_bindings', 'leasehold_access_marks',
                                'leasehold_access_versions', 'leasehold_dead_queues')) AS tables,
       (SELECT count(*) FROM pg_class AS made JOIN pg_index AS built ON built.indexrelid = made.oid
         WHERE built.indisvalid AND pg_table_is_visible(made.oid)
           AND made.relname IN ('leasehold_api_keys_user', 'leasehold_role_bindings_namespace',
                                'leasehold_role_bindings_role')) AS indexes
