-- Adds a record unless the name is taken; one row if it was added.
INSERT INTO queues (name, namespace, lease_timeout_ns, expire_timeout_ns, dead_queue, max_attempts, reference,
                    requested_partitions, partition_info, created_at, updated_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, {partition_info}, $12, $13)
ON CONFLICT (name) DO NOTHING
RETURNING 1
