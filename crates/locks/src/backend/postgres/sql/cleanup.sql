-- Remove a hold that is long over. Never the counter: fences outlive holds.
-- $1 key
DELETE FROM {locks} WHERE key = $1 AND expires_at_ms <= {now} - {cleanup_after}
