-- Adds items with all they have, save those whose source id is here.   $1 $2 $3 as owned.sql
INSERT INTO leasehold_items (queue, partition, id, content_id, source_id, is_leased, lease_deadline, expire_deadline,
                             enqueue_at, created_at, attempts, max_attempts)
SELECT $1, $2, made.id, made.id, made.source_id, made.is_leased, made.lease_deadline, made.expire_deadline,
       made.enqueue_at, made.created_at, made.attempts, made.max_attempts
  FROM unnest($4::text[], $5::text[], $6::bool[], $7::timestamptz[], $8::timestamptz[], $9::timestamptz[],
              $10::timestamptz[], $11::int[], $12::int[])
       AS made (id, source_id, is_leased, lease_deadline, expire_deadline, enqueue_at, created_at, attempts, max_attempts)
 WHERE {owned}
    ON CONFLICT (queue, partition, source_id) DO NOTHING
