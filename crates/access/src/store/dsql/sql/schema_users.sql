CREATE TABLE IF NOT EXISTS leasehold_users (
    id text CONSTRAINT leasehold_users_pkey PRIMARY KEY,
    username text NOT NULL CONSTRAINT leasehold_users_username_key UNIQUE,
    external_id text NOT NULL,
    email text NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL
)
