-- The hold with a lock id, live or not, and what time it is.
-- $1 lock_id
SELECT user_key, lock_id, expires_at_ms, acquired_at_ms, fence, {now} AS now_ms
  FROM {locks}
 WHERE lock_id = $1
