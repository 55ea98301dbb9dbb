-- Whoever held the partitions of the queue is fenced.   $1 name   $2 their numbers
DELETE FROM leasehold_partitions WHERE queue = $1 AND partition = ANY ($2::bigint[])
