-- Acquires and releases, each by the call for one. Acquires come first and in the order of acquire_many.sql. Releases come
-- last: who has a row deleted must not wait for a counter, because whoever has that counter may wait for the row.
-- A key or id whose call told nothing has to be asked alone.
-- $1 keys   $2 fence_keys   $3 user_keys   $4 lock_ids   $5 ttls in ms   $6 whether to take SyncGuard's locks on the keys
-- $7 lock_ids to release
SELECT true AS is_acquire, number, {acquire_function}(key, fence_key, user_key, lock_id, ttl_ms, $6) AS told
  FROM (SELECT *
          FROM unnest($1, $2, $3, $4, $5) WITH ORDINALITY AS asked (key, fence_key, user_key, lock_id, ttl_ms, number)
         ORDER BY CASE WHEN $6 THEN hashtext(key) END, key COLLATE "C"
        OFFSET 0) AS sorted
UNION ALL
SELECT false, number, {release_function}(lock_id)
  FROM unnest($7) WITH ORDINALITY AS ending (lock_id, number)
