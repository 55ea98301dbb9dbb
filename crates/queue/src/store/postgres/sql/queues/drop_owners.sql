-- Fences the owners of the partitions of the queue.   $1 name   $2 their numbers
DELETE FROM leasehold_partitions WHERE queue = $1 AND partition = ANY ($2::bigint[])
