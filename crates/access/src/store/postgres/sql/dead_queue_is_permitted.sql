-- One row if the pair is remembered.   $1 queue   $2 its beginning   $3 dead queue   $4 its beginning
SELECT queue
  FROM leasehold_dead_queues
 WHERE queue = $1 AND queue_created_at = $2 AND dead_queue = $3 AND dead_queue_created_at = $4
