-- Which tables are there, and what ours says about the queue it belongs to.   $1 quoted name of the table of items
SELECT to_regclass($1) IS NOT NULL AS has_items,
       to_regclass('leasehold_partitions') IS NOT NULL AND to_regclass('leasehold_partition_epochs') IS NOT NULL
           AS has_partitions,
       obj_description(to_regclass($1)::oid, 'pg_class') AS comment
