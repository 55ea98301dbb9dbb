-- Makes the caller the owner. Waits for a write of the former owner that is under way: it holds the row.
-- $1 queue   $2 partition   $3 owner, for people to read   $4 when the queue was created, where that is looked at
INSERT INTO leasehold_partitions AS held (queue, partition, epoch, owner, taken_at)
SELECT $1::text, $2::bigint, nextval('leasehold_partition_epochs'), $3::text, clock_timestamp()
 WHERE {there}
ON CONFLICT (queue, partition) DO UPDATE
   SET epoch = nextval('leasehold_partition_epochs'), owner = EXCLUDED.owner, taken_at = EXCLUDED.taken_at
RETURNING epoch
