,
    expires_at_ts timestamptz GENERATED ALWAYS AS (to_timestamp(expires_at_ms / 1000.0)) STORED,
    acquired_at_ts timestamptz GENERATED ALWAYS AS (to_timestamp(acquired_at_ms / 1000.0)) STORED
