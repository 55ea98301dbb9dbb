-- The next ready items behind the cursor. The test of is_leased is opaque on purpose: Querator's partial index on it has
-- no order of id, and its head is full of dead entries.   $1 cursor   $2 how many
SELECT id, expire_deadline FROM {items}
 WHERE id > $1 AND is_leased::int = 0 AND enqueue_at IS NULL
 ORDER BY id LIMIT $2
