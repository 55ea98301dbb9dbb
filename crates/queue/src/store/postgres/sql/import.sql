-- Adds items with all they have, save those whose source id is here.   $1 $2 $3 as owned.sql
WITH {owned},
known AS MATERIALIZED (
    SELECT id, source_id FROM {items} WHERE source_id IS NOT NULL AND source_id = ANY ($5)),
placed AS (
    INSERT INTO {items} (id, source_id, is_leased, lease_deadline, expire_deadline, enqueue_at, created_at, attempts,
                         max_attempts, reference, encoding, kind, payload)
    SELECT * FROM unnest($4::text[], $5::text[], $6::bool[], $7::timestamptz[], $8::timestamptz[], $9::timestamptz[],
                         $10::timestamptz[], $11::int[], $12::int[], $13::text[], $14::text[], $15::text[],
                         $16::bytea[])
     WHERE EXISTS (SELECT FROM owned)
        ON CONFLICT (source_id) WHERE source_id IS NOT NULL DO NOTHING
    RETURNING id)
SELECT (SELECT count(*) FROM owned) AS owned,
       ARRAY (SELECT id FROM placed) AS placed,
       ARRAY (SELECT id FROM known ORDER BY id) AS known_ids,
       ARRAY (SELECT source_id FROM known ORDER BY id) AS known_source_ids
