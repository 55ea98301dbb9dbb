-- Why acquire.sql took nothing. 'free': the hold ended since; ask again.
-- $1 key   $2 lock_id
SELECT CASE WHEN expires_at_ms > {now} - {tolerance}
            THEN CASE WHEN lock_id = $2 THEN 'acquired' ELSE 'held' END
            ELSE CASE WHEN fence::bigint >= {fence_max} THEN 'overflow' ELSE 'free' END
       END AS outcome,
       fence, expires_at_ms, expires_at_ms + {tolerance} - {now} AS free_in_ms
  FROM {locks}
 WHERE key = $1
