-- When the hold of the key ends, and what time it is.
-- $1 key
SELECT expires_at_ms, {now} AS now_ms FROM {locks} WHERE key = $1
