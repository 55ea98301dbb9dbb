EXISTS (SELECT 1 FROM leasehold_partitions WHERE queue = $1 AND partition = $2 AND epoch = $3)
