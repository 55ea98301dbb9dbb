CREATE TABLE IF NOT EXISTS leasehold_roles (
    id text COLLATE "C" CONSTRAINT leasehold_roles_pkey PRIMARY KEY,
    namespace text COLLATE "C" NOT NULL
        CONSTRAINT leasehold_roles_namespace_fkey REFERENCES leasehold_namespaces,
    name text COLLATE "C" NOT NULL,
    permissions text[] NOT NULL,
    created_at timestamptz NOT NULL,
    CONSTRAINT leasehold_roles_name_key UNIQUE (namespace, name)
)
