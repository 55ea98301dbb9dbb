-- Leases those that are ready.   $1 $2 $3 as owned.sql   $4 ids   $5 deadlines   $6 how many
-- The limit says nothing new, but a plan made without knowing it expects one row, and so looks ids up in the primary key
-- however small the table was when the plan was made.
WITH {owned}
UPDATE {items} AS item
   SET is_leased = true, lease_deadline = pick.deadline,
       attempts = item.attempts + (item.attempts < 2147483647)::int
  FROM (SELECT * FROM unnest($4::text[], $5::timestamptz[]) AS pick (id, deadline) LIMIT $6) AS pick
 WHERE item.id = pick.id AND {is_ready} AND EXISTS (SELECT FROM owned)
RETURNING {columns}
