-- Whether the table is there: making it needs rights that using it does not.
SELECT to_regclass('queues') IS NOT NULL
