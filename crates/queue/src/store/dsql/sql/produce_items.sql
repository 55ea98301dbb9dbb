-- Adds items that nobody holds and that came from no other queue.   $1 $2 $3 as owned.sql
INSERT INTO leasehold_items (queue, partition, id, content_id, expire_deadline, enqueue_at, created_at)
SELECT $1, $2, made.id, made.id, made.expire_deadline, made.enqueue_at, made.created_at
  FROM unnest($4::text[], $5::timestamptz[], $6::timestamptz[], $7::timestamptz[])
       AS made (id, expire_deadline, enqueue_at, created_at)
 WHERE {owned}
