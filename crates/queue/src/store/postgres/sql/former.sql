-- The epoch of the owner that is about to be replaced, kept as it is until the takeover behind this has committed.
-- $1 queue   $2 partition
SELECT epoch FROM leasehold_partitions WHERE queue = $1 AND partition = $2 FOR UPDATE
