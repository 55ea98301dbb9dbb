-- Whether this epoch is still the partition's; one row if so.   $1 queue   $2 partition   $3 epoch
SELECT 1 FROM leasehold_partitions WHERE queue = $1 AND partition = $2 AND epoch = $3
