-- acquire.sql after SyncGuard's lock on the key, in one call.
-- $1 key   $2 fence_key   $3 user_key   $4 lock_id   $5 ttl in ms
SELECT outcome, fence, expires_at_ms, free_in_ms FROM {acquire_function}($1, $2, $3, $4, $5)
