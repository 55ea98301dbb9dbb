-- How many of the tables are there, and of their indexes, built.
SELECT (SELECT count(*) FROM pg_class AS made
         WHERE made.relkind = 'r' AND pg_table_is_visible(made.oid)
           AND made.relname IN ('leasehold_partitions', 'leasehold_items', 'leasehold_contents')) AS tables,
       (SELECT count(*) FROM pg_class AS made JOIN pg_index AS built ON built.indexrelid = made.oid
         WHERE built.indisvalid AND pg_table_is_visible(made.oid)
           AND made.relname IN ('leasehold_items_lease_deadline', 'leasehold_items_expire_deadline',
                                'leasehold_items_enqueue_at')) AS indexes
