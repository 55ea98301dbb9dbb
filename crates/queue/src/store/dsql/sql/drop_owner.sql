-- Whoever held the partition is fenced; the next epoch is that of the one who empties it.   $1 queue   $2 partition
UPDATE leasehold_partitions SET epoch = epoch + 1, owner = '', taken_at = now()
 WHERE queue = $1 AND partition = $2
RETURNING epoch
