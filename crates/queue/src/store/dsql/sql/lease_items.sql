-- Leases those that are ready.   $1 $2 $3 as owned.sql   $4 ids   $5 deadlines
UPDATE leasehold_items AS item
   SET is_leased = true, lease_deadline = pick.deadline,
       attempts = item.attempts + (item.attempts < 2147483647)::int
  FROM unnest($4::text[], $5::timestamptz[]) AS pick (id, deadline)
 WHERE {here} AND item.id = ANY ($4::text[]) AND item.id = pick.id AND NOT item.is_leased AND item.enqueue_at IS NULL
   AND {owned}
