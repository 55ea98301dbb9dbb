-- Fences the owners of the partitions of the queue; a take-over at the same time fails.
-- $1 name   $2 their numbers
INSERT INTO leasehold_partitions AS held (queue, partition, epoch, owner, taken_at)
SELECT $1::text, part.number, 1, '', now() FROM unnest($2::bigint[]) AS part (number)
ON CONFLICT (queue, partition) DO UPDATE SET epoch = held.epoch + 1, owner = '', taken_at = EXCLUDED.taken_at
