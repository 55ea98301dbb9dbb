-- The hold of a key, live or not, and what time it is.
-- $1 key
SELECT user_key, lock_id, expires_at_ms, acquired_at_ms, fence, {now} AS now_ms
  FROM {locks}
 WHERE key = $1
