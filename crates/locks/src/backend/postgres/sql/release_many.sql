-- release.sql for many holds, in the order of keys. An id without a row in the answer was not found.
-- $1 lock_ids
WITH mine AS MATERIALIZED (
    SELECT key, lock_id, user_key, expires_at_ms > {now} - {tolerance} AS is_live
      FROM (SELECT key, lock_id, user_key, expires_at_ms FROM {locks}
             WHERE lock_id = ANY ($1)
             ORDER BY key COLLATE "C"
               FOR UPDATE) AS locked
), ended AS (
    DELETE FROM {locks} AS lock
     USING mine
     WHERE lock.key = mine.key AND lock.lock_id = mine.lock_id AND mine.is_live
)
SELECT CASE WHEN is_live THEN 'released' ELSE 'expired' END AS outcome, lock_id, user_key FROM mine
