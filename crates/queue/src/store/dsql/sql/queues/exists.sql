-- Whether the table is there: making it needs rights that using it does not.
SELECT count(*) = 1 FROM pg_class AS made
 WHERE made.relkind = 'r' AND made.relname = 'queues' AND pg_table_is_visible(made.oid)
