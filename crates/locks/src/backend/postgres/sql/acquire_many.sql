-- acquire.sql for many keys, each at most once. Rows are locked counters first, then locks, each in the order of keys,
-- so that two of these never wait for each other in a ring. A key without a row in the answer lost its race.
-- $1 keys   $2 fence_keys   $3 user_keys   $4 lock_ids   $5 ttls in ms
WITH held AS MATERIALIZED (
    SELECT key, lock_id, fence, expires_at_ms, {now} AS now_ms
      FROM {locks}
     WHERE key = ANY ($1) AND expires_at_ms > {now} - {tolerance}
), free AS MATERIALIZED (
    SELECT *
      FROM unnest($1, $2, $3, $4, $5) AS asked (key, fence_key, user_key, lock_id, ttl_ms)
     WHERE {admitted} AND NOT EXISTS (SELECT FROM held WHERE held.key = asked.key)
), counter AS MATERIALIZED (
    SELECT fence_key, fence FROM {fences}
     WHERE fence_key = ANY (ARRAY (SELECT fence_key FROM free))
     ORDER BY fence_key COLLATE "C"
       FOR UPDATE
), first AS (
    INSERT INTO {fences} (fence_key, fence, key_debug)
    SELECT fence_key, 1, user_key FROM free
     WHERE NOT EXISTS (SELECT FROM counter WHERE counter.fence_key = free.fence_key)
     ORDER BY fence_key COLLATE "C"
        ON CONFLICT (fence_key) DO NOTHING
    RETURNING fence_key, fence
), next AS (
    SELECT fence_key, fence + 1 AS fence FROM counter WHERE fence < {fence_max}
    UNION ALL
    SELECT fence_key, fence FROM first
), granted AS (
    -- Sorted, and so complete, before the first lock row is touched; the clock is read after that.
    SELECT key, lock_id, ttl_ms, lpad(fence::text, 15, '0') AS fence, user_key
      FROM next JOIN free USING (fence_key)
     ORDER BY key COLLATE "C"
    OFFSET 0
), taken AS (
    INSERT INTO {locks} AS lock (key, lock_id, expires_at_ms, acquired_at_ms, fence, user_key)
    SELECT key, lock_id, now_ms + ttl_ms, now_ms, fence, user_key
      FROM (SELECT *, {now} AS now_ms FROM granted OFFSET 0) AS timed
        ON CONFLICT (key) DO UPDATE
       SET lock_id = EXCLUDED.lock_id, fence = EXCLUDED.fence, user_key = EXCLUDED.user_key,
           -- The difference of the two is the ttl, whatever the time was before the wait.
           expires_at_ms = {now} + (EXCLUDED.expires_at_ms - EXCLUDED.acquired_at_ms), acquired_at_ms = {now}
     WHERE lock.expires_at_ms <= {now} - {tolerance}
    RETURNING key, lock_id, fence, expires_at_ms
), counted AS (
    UPDATE {fences} SET fence = fence + 1
     WHERE fence_key = ANY (ARRAY (
        SELECT fence_key FROM counter JOIN free USING (fence_key) JOIN taken USING (key)))
)
SELECT 'acquired' AS outcome, key, lock_id, fence, expires_at_ms, NULL::bigint AS free_in_ms FROM taken
UNION ALL
SELECT 'held', key, lock_id, fence, expires_at_ms, expires_at_ms + {tolerance} - now_ms FROM held
UNION ALL
SELECT 'overflow', key, lock_id, NULL, NULL, NULL
  FROM counter JOIN free USING (fence_key) WHERE fence >= {fence_max}
