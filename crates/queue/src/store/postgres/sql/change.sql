-- Changes leased items, all of them or none.   $1 $2 $3 as owned.sql   $4 ids, each once   $5 how many
-- $6 fate: 'gone', 'kept' with the rest, 'same' if it only has to be leased   $7 id from now on   $8 whether still leased
-- $9 lease deadline, null to keep it   $10 schedule   $11 expire deadline, null to keep it
WITH {owned},
held AS MATERIALIZED (
    SELECT item.ctid AS place, wanted.*
      FROM (SELECT * FROM unnest($4::text[], $6::text[], $7::text[], $8::bool[], $9::timestamptz[], $10::timestamptz[],
                                 $11::timestamptz[])
                     AS wanted (id, fate, new_id, is_leased, lease_deadline, enqueue_at, expire_deadline)
             LIMIT $5) AS wanted
      JOIN {items} AS item ON item.id = wanted.id
     WHERE {is_held}),
gone AS (
    DELETE FROM {items} AS item USING held
     WHERE item.ctid = held.place AND held.fate = 'gone'
       AND (SELECT count(*) FROM held) = $5 AND EXISTS (SELECT FROM owned)),
kept AS (
    UPDATE {items} AS item
       SET id = held.new_id, is_leased = held.is_leased,
           lease_deadline = CASE WHEN held.is_leased THEN coalesce(held.lease_deadline, item.lease_deadline) END,
           enqueue_at = held.enqueue_at,
           expire_deadline = coalesce(held.expire_deadline, item.expire_deadline)
      FROM held
     WHERE item.ctid = held.place AND held.fate = 'kept'
       AND (SELECT count(*) FROM held) = $5 AND EXISTS (SELECT FROM owned)
    RETURNING item.id, item.expire_deadline, {bytes} AS bytes,
              NOT item.is_leased AND item.enqueue_at IS NULL AS is_ready)
SELECT (SELECT count(*) FROM owned) AS owned, (SELECT count(*) FROM held) AS held, ready.id, ready.expire_deadline,
       ready.bytes
  FROM (SELECT) AS always LEFT JOIN (SELECT * FROM kept WHERE is_ready) AS ready ON true
