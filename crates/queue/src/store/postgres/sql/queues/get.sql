-- One record. The copies of the queue that Querator nests in partition_info are left where they are.   $1 name
SELECT {columns} FROM queues WHERE name = $1
