-- Leases those that are ready.   $1 $2 $3 as owned.sql   $4 ids   $5 deadlines   $6 how many
-- The limit says nothing new, but a plan made without knowing it expects few rows, and so looks ids up in the primary key.
UPDATE leasehold_items AS item
   SET is_leased = true, lease_deadline = pick.deadline,
       attempts = item.attempts + (item.attempts < 2147483647)::int
  FROM (SELECT * FROM unnest($4::text[], $5::timestamptz[]) AS pick (id, deadline) LIMIT $6) AS pick,
       leasehold_contents AS content
 WHERE {here} AND item.id = pick.id AND {content} AND NOT item.is_leased AND item.enqueue_at IS NULL AND {owned}
RETURNING {columns}
