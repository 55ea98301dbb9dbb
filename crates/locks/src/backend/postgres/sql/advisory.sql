-- Take SyncGuard's lock on the key, in a statement of its own: the next one's snapshot must be younger than the wait.
-- The setting ends with the transaction, and the next statement grants nothing without it. A key that is held already is
-- not waited for: the next statement only says so.
-- $1 key
SELECT pg_advisory_xact_lock(hashtext($1)), set_config('leasehold.advisory', 'taken', true)
 WHERE NOT EXISTS (SELECT FROM {locks} WHERE key = $1 AND expires_at_ms > {now} - {tolerance})
