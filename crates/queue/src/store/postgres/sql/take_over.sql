-- Makes the caller the owner. Waits for a write of the former owner that is under way: it holds the row.
-- $1 queue   $2 partition   $3 owner, for people to read
INSERT INTO leasehold_partitions AS held (queue, partition, epoch, owner, taken_at)
VALUES ($1, $2, nextval('leasehold_partition_epochs'), $3, clock_timestamp())
ON CONFLICT (queue, partition) DO UPDATE
   SET epoch = nextval('leasehold_partition_epochs'), owner = EXCLUDED.owner, taken_at = EXCLUDED.taken_at
RETURNING epoch
