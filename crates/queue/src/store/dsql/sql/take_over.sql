-- Makes the caller the owner. A write of the former owner that commits before this does makes it fail, and be run again; a
-- deletion of the queue likewise. The row stays for ever, so that no epoch comes twice.
-- $1 queue   $2 partition   $3 owner, for people to read   $4 when the queue was created, where that is looked at
INSERT INTO leasehold_partitions AS held (queue, partition, epoch, owner, taken_at)
SELECT $1::text, $2::bigint, 1, $3::text, now()
 WHERE {there}
ON CONFLICT (queue, partition) DO UPDATE
   SET epoch = held.epoch + 1, owner = EXCLUDED.owner, taken_at = EXCLUDED.taken_at
RETURNING epoch
