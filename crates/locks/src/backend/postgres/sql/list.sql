-- A page of live holds in the byte order of keys, whatever the database's collation.
-- $1 only keys after this one   $2 at most so many
SELECT user_key, lock_id, expires_at_ms, acquired_at_ms, fence
  FROM {locks}
 WHERE key COLLATE "C" > $1 AND expires_at_ms > {now} - {tolerance}
 ORDER BY key COLLATE "C"
 LIMIT $2
