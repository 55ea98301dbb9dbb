-- The live hold with a lock id.
-- $1 lock_id
SELECT user_key, lock_id, expires_at_ms, acquired_at_ms, fence
  FROM {locks}
 WHERE lock_id = $1 AND expires_at_ms > {now} - {tolerance}
