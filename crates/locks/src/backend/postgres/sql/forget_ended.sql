-- What a lock id stands for beside the key that it is to hold now. A hold that has ended is removed; its counter stays. The row
-- is locked before it is judged: an extension may be on its way.
-- $1 lock_id   $2 key
WITH mine AS MATERIALIZED (
    SELECT key, expires_at_ms > {now} - {tolerance} AS is_live
      FROM (SELECT key, expires_at_ms FROM {locks} WHERE lock_id = $1 AND key <> $2 FOR UPDATE) AS locked
), ended AS (
    DELETE FROM {locks} AS lock
     USING mine
     WHERE lock.key = mine.key AND lock.lock_id = $1 AND NOT mine.is_live
)
SELECT is_live FROM mine
