-- Adds items that nobody holds and that came from no other queue.   $1 $2 $3 as owned.sql
WITH {owned},
placed AS (
    INSERT INTO {items} (id, expire_deadline, enqueue_at, created_at, reference, encoding, kind, payload)
    SELECT * FROM unnest($4::text[], $5::timestamptz[], $6::timestamptz[], $7::timestamptz[], $8::text[], $9::text[],
                         $10::text[], $11::bytea[])
     WHERE EXISTS (SELECT FROM owned))
SELECT count(*) AS owned FROM owned
