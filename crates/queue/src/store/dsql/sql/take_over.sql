-- Makes the caller the owner. A write of the former owner that commits before this does makes it fail, and be run again.
-- The row stays for ever, so that no epoch comes twice.   $1 queue   $2 partition   $3 owner, for people to read
INSERT INTO leasehold_partitions AS held (queue, partition, epoch, owner, taken_at)
VALUES ($1, $2, 1, $3, now())
ON CONFLICT (queue, partition) DO UPDATE
   SET epoch = held.epoch + 1, owner = EXCLUDED.owner, taken_at = EXCLUDED.taken_at
RETURNING epoch
