CREATE TABLE IF NOT EXISTS leasehold_namespaces (
    name text CONSTRAINT leasehold_namespaces_pkey PRIMARY KEY,
    description text NOT NULL,
    api_key_tag text,
    created_at timestamptz NOT NULL
)
