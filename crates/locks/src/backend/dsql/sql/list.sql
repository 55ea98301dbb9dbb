-- A page of live holds in the byte order of keys: the database has no other.
-- $1 only keys after this one   $2 at most so many
SELECT user_key, lock_id, expires_at_ms, acquired_at_ms, fence
  FROM {locks}
 WHERE key > $1 AND expires_at_ms > {now} - {tolerance}
 ORDER BY key
 LIMIT $2
