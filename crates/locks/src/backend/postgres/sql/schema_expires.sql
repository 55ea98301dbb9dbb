CREATE INDEX IF NOT EXISTS {expires_index} ON {locks} (expires_at_ms)
