CREATE TABLE IF NOT EXISTS leasehold_api_keys (
    id text COLLATE "C" CONSTRAINT leasehold_api_keys_pkey PRIMARY KEY,
    hash text COLLATE "C" NOT NULL CONSTRAINT leasehold_api_keys_hash_key UNIQUE,
    user_id text COLLATE "C" NOT NULL
        CONSTRAINT leasehold_api_keys_user_fkey REFERENCES leasehold_users ON DELETE CASCADE,
    namespace_scope text,
    name text NOT NULL,
    prefix text NOT NULL,
    expires_at timestamptz,
    last_used_at timestamptz,
    created_at timestamptz NOT NULL
)
