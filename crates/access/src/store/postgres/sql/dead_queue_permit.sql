-- $1 queue   $2 its beginning   $3 dead queue   $4 its beginning
INSERT INTO leasehold_dead_queues (queue, queue_created_at, dead_queue, dead_queue_created_at)
VALUES ($1, $2, $3, $4)
ON CONFLICT (queue) DO UPDATE
   SET queue_created_at = $2, dead_queue = $3, dead_queue_created_at = $4
