-- Hold the key if no live hold exists. No row back: it is held, or its fences are used up; held.sql tells which.
-- $1 key   $2 user_key   $3 lock_id   $4 ttl in ms
--
-- One row per key, for ever: it holds the lock and the fence, so the decision and the write are about the same row, and
-- of two that take it at once the later commit fails. A refusal writes nothing, so it fails nobody.
INSERT INTO {locks} AS lock (key, lock_id, expires_at_ms, acquired_at_ms, fence, user_key)
SELECT $1, $3, {now} + $4, {now}, '000000000000001', $2
 WHERE NOT EXISTS (SELECT 1 FROM {locks} WHERE key = $1 AND expires_at_ms > {now} - {tolerance})
    ON CONFLICT (key) DO UPDATE
   SET lock_id = EXCLUDED.lock_id, expires_at_ms = EXCLUDED.expires_at_ms, acquired_at_ms = EXCLUDED.acquired_at_ms,
       fence = lpad((lock.fence::bigint + 1)::text, 15, '0'), user_key = EXCLUDED.user_key
 WHERE lock.expires_at_ms <= {now} - {tolerance} AND lock.fence::bigint < {fence_max}
RETURNING 'acquired' AS outcome, fence, expires_at_ms, NULL::bigint AS free_in_ms
