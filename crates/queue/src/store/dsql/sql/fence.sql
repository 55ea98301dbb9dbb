-- The epoch of the partition's owner, in front of every write. Whoever writes or reads this row so at the same time and
-- commits later fails: a takeover, or the write that it ousts.   $1 queue   $2 partition
SELECT epoch, 1::bigint AS owned FROM leasehold_partitions WHERE queue = $1 AND partition = $2 FOR UPDATE
