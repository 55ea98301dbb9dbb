-- Adds items, leases ready ones and changes leased ones, all different: one statement, so one commit, and nothing is
-- locked before all of it has arrived. The first row tells who owns the partition, how many of the items to change are
-- leased, and what became ready; the others are leased items.   $1 $2 $3 as owned.sql
-- $4 … $14 new items, from no other queue   $15 $16 $17 as $4 $5 $6 of lease.sql   $18 … $25 as $4 … $11 of change.sql
WITH {owned},
placed AS (
    INSERT INTO {items} (id, is_leased, lease_deadline, expire_deadline, enqueue_at, created_at, attempts, reference,
                         encoding, kind, payload)
    SELECT * FROM unnest($4::text[], $5::bool[], $6::timestamptz[], $7::timestamptz[], $8::timestamptz[],
                         $9::timestamptz[], $10::int[], $11::text[], $12::text[], $13::text[], $14::bytea[])
     WHERE EXISTS (SELECT FROM owned)),
leased AS (
    UPDATE {items} AS item
       SET is_leased = true, lease_deadline = pick.deadline,
           attempts = item.attempts + (item.attempts < 2147483647)::int
      FROM (SELECT * FROM unnest($15::text[], $16::timestamptz[]) AS pick (id, deadline) LIMIT $17) AS pick
     WHERE item.id = pick.id AND {is_ready} AND EXISTS (SELECT FROM owned)
    RETURNING {columns}),
held AS MATERIALIZED (
    SELECT item.ctid AS place, wanted.*
      FROM (SELECT * FROM unnest($18::text[], $20::text[], $21::text[], $22::bool[], $23::timestamptz[],
                                 $24::timestamptz[], $25::timestamptz[])
                     AS wanted (id, fate, new_id, is_leased, lease_deadline, enqueue_at, expire_deadline)
             LIMIT $19) AS wanted
      JOIN {items} AS item ON item.id = wanted.id
     WHERE {is_held}),
gone AS (
    DELETE FROM {items} AS item USING held
     WHERE item.ctid = held.place AND held.fate = 'gone'
       AND (SELECT count(*) FROM held) = $19 AND EXISTS (SELECT FROM owned)),
kept AS (
    UPDATE {items} AS item
       SET id = held.new_id, is_leased = held.is_leased,
           lease_deadline = CASE WHEN held.is_leased THEN coalesce(held.lease_deadline, item.lease_deadline) END,
           enqueue_at = held.enqueue_at,
           expire_deadline = coalesce(held.expire_deadline, item.expire_deadline)
      FROM held
     WHERE item.ctid = held.place AND held.fate = 'kept'
       AND (SELECT count(*) FROM held) = $19 AND EXISTS (SELECT FROM owned)
    RETURNING item.id, item.expire_deadline, NOT item.is_leased AND item.enqueue_at IS NULL AS is_ready)
SELECT none.*, (SELECT count(*) FROM owned) AS owned, (SELECT count(*) FROM held) AS held,
       ARRAY (SELECT id FROM kept WHERE is_ready ORDER BY id) AS ready_ids,
       ARRAY (SELECT expire_deadline FROM kept WHERE is_ready ORDER BY id) AS ready_expire_deadlines
  FROM (SELECT) AS always LEFT JOIN leased AS none ON false
 UNION ALL
SELECT leased.*, NULL, NULL, NULL, NULL FROM leased
