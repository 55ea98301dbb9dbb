CREATE TABLE IF NOT EXISTS {locks} (
    key text PRIMARY KEY,
    lock_id text,
    expires_at_ms bigint NOT NULL,
    acquired_at_ms bigint NOT NULL,
    fence text NOT NULL,
    user_key text NOT NULL
)
