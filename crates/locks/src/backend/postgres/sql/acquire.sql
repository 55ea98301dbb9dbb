-- Hold the key if no live hold exists. No row back: another acquire of the key won while this one waited; ask again.
-- $1 key   $2 fence_key   $3 user_key   $4 lock_id   $5 ttl in ms
--
-- Who may write is decided twice by rows and never by the snapshot: the counter's row lock puts acquires of one key in
-- line, and the lock row is judged in its newest version, by a clock read after the wait. `held` only spares a
-- refusal the writing.
WITH held AS MATERIALIZED (
    SELECT lock_id, fence, expires_at_ms, {now} AS now_ms
      FROM {locks}
     WHERE key = $1 AND expires_at_ms > {now} - {tolerance}
), counter AS MATERIALIZED (
    -- The clock of the grant is read outside, when the wait for the row is over.
    SELECT fence, {now} AS now_ms
      FROM (SELECT fence FROM {fences}
             WHERE fence_key = $2 AND {admitted} AND NOT EXISTS (SELECT FROM held)
               FOR UPDATE) AS locked
), first AS (
    -- Lost to another first acquire: nothing is inserted, nothing returned, and so nothing below happens.
    INSERT INTO {fences} (fence_key, fence, key_debug)
    SELECT $2, 1, $3
     WHERE {admitted} AND NOT EXISTS (SELECT FROM held) AND NOT EXISTS (SELECT FROM counter)
        ON CONFLICT (fence_key) DO NOTHING
    RETURNING fence
), next AS (
    SELECT fence + 1 AS fence, now_ms FROM counter WHERE fence < {fence_max}
    UNION ALL
    SELECT fence, {now} FROM first
), taken AS (
    INSERT INTO {locks} AS lock (key, lock_id, expires_at_ms, acquired_at_ms, fence, user_key)
    SELECT $1, $4, now_ms + $5, now_ms, lpad(fence::text, 15, '0'), $3 FROM next
        ON CONFLICT (key) DO UPDATE
       SET lock_id = EXCLUDED.lock_id, expires_at_ms = {now} + $5, acquired_at_ms = {now},
           fence = EXCLUDED.fence, user_key = EXCLUDED.user_key
     WHERE lock.expires_at_ms <= {now} - {tolerance}
    RETURNING fence, expires_at_ms
), counted AS (
    UPDATE {fences} SET fence = fence + 1
     WHERE fence_key = $2 AND EXISTS (SELECT FROM counter) AND EXISTS (SELECT FROM taken)
)
SELECT 'acquired' AS outcome, fence, expires_at_ms, NULL::bigint AS free_in_ms FROM taken
UNION ALL
SELECT CASE WHEN lock_id = $4 THEN 'acquired' ELSE 'held' END, fence, expires_at_ms,
       expires_at_ms + {tolerance} - now_ms
  FROM held
UNION ALL
SELECT 'overflow', NULL, NULL, NULL FROM counter WHERE fence >= {fence_max}
