-- The epoch of whoever took the partition over last.   $1 queue   $2 partition
SELECT epoch FROM leasehold_partitions WHERE queue = $1 AND partition = $2
