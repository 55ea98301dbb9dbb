-- End the live hold. The row is locked before it is judged: an extension may be on its way.
-- $1 lock_id
WITH mine AS MATERIALIZED (
    SELECT key, user_key, expires_at_ms > {now} - {tolerance} AS is_live
      FROM (SELECT key, user_key, expires_at_ms FROM {locks} WHERE lock_id = $1 FOR UPDATE) AS locked
), ended AS (
    DELETE FROM {locks} AS lock
     USING mine
     WHERE lock.key = mine.key AND lock.lock_id = $1 AND mine.is_live
)
SELECT CASE WHEN is_live THEN 'released' ELSE 'expired' END AS outcome, user_key FROM mine
