-- Whoever held the partition is fenced.   $1 queue   $2 partition
DELETE FROM leasehold_partitions WHERE queue = $1 AND partition = $2
