-- Make the live hold last $2 from now. The row is locked before the clock is read: an extension that waited must not
-- bring back a hold that ended meanwhile.
-- $1 lock_id   $2 ttl in ms
WITH mine AS MATERIALIZED (
    SELECT key, lock_id, expires_at_ms, {now} AS now_ms
      FROM (SELECT key, lock_id, expires_at_ms FROM {locks} WHERE lock_id = $1 FOR UPDATE) AS locked
), extended AS (
    UPDATE {locks} AS lock
       SET expires_at_ms = mine.now_ms + $2
      FROM mine
     WHERE lock.key = mine.key AND lock.lock_id = $1 AND mine.expires_at_ms > mine.now_ms - {tolerance}
    RETURNING lock.expires_at_ms
)
SELECT 'extended' AS outcome, expires_at_ms FROM extended
UNION ALL
SELECT 'expired', NULL FROM mine WHERE expires_at_ms <= now_ms - {tolerance}
