CREATE TABLE IF NOT EXISTS {fences} (
    fence_key text PRIMARY KEY,
    fence bigint NOT NULL DEFAULT 0,
    key_debug text
)
