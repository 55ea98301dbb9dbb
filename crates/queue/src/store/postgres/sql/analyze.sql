-- Lets plans know that the table has grown.
ANALYZE (SKIP_LOCKED) {items}
