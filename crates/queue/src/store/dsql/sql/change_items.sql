-- Changes leased items, all of them or none; no row back means none. One statement decides about all of them, so those
-- that go are marked by it, and deleted behind it.   $1 $2 $3 as owned.sql   $4 ids, each once   $5 how many
-- $6 fate: 'gone', 'kept' with the rest, 'same' if it only has to be leased   $7 id from now on   $8 whether still leased
-- $9 lease deadline, null to keep it   $10 schedule   $11 expire deadline, null to keep it
UPDATE leasehold_items AS item
   SET id = wanted.new_id, is_leased = wanted.is_leased, is_gone = (wanted.fate = 'gone'),
       lease_deadline = CASE WHEN wanted.is_leased THEN coalesce(wanted.lease_deadline, item.lease_deadline) END,
       enqueue_at = wanted.enqueue_at,
       expire_deadline = coalesce(wanted.expire_deadline, item.expire_deadline)
  FROM unnest($4::text[], $6::text[], $7::text[], $8::bool[], $9::timestamptz[], $10::timestamptz[], $11::timestamptz[])
       AS wanted (id, fate, new_id, is_leased, lease_deadline, enqueue_at, expire_deadline)
 WHERE {here} AND item.id = ANY ($4::text[]) AND item.id = wanted.id AND wanted.fate <> 'same' AND {owned}
   AND (SELECT count(*) FROM leasehold_items AS item WHERE {held}) = $5
RETURNING 1::bigint AS owned, $5::bigint AS held, item.expire_deadline,
          CASE WHEN NOT item.is_gone AND NOT item.is_leased AND item.enqueue_at IS NULL THEN item.id END AS id,
          CASE WHEN NOT item.is_gone AND NOT item.is_leased AND item.enqueue_at IS NULL THEN {bytes} END AS bytes
