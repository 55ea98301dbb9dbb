-- Replaces a record; one row if there was one.
UPDATE queues
   SET namespace = $2, lease_timeout_ns = $3, expire_timeout_ns = $4, dead_queue = $5, max_attempts = $6,
       reference = $7, requested_partitions = $8, partition_info = {partition_info}, updated_at = $13
 WHERE name = $1 AND created_at = $12
RETURNING 1
