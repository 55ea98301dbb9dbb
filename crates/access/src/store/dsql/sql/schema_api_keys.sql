-- The user of a key is there because whoever adds a key claims the user's row: not every cluster has foreign keys.
CREATE TABLE IF NOT EXISTS leasehold_api_keys (
    id text CONSTRAINT leasehold_api_keys_pkey PRIMARY KEY,
    hash text NOT NULL CONSTRAINT leasehold_api_keys_hash_key UNIQUE,
    user_id text NOT NULL,
    namespace_scope text,
    name text NOT NULL,
    prefix text NOT NULL,
    expires_at timestamptz,
    last_used_at timestamptz,
    created_at timestamptz NOT NULL
)
