CREATE TABLE IF NOT EXISTS leasehold_role_bindings (
    id text COLLATE "C" CONSTRAINT leasehold_role_bindings_pkey PRIMARY KEY,
    namespace text COLLATE "C" NOT NULL,
    user_id text COLLATE "C" NOT NULL
        CONSTRAINT leasehold_role_bindings_user_fkey REFERENCES leasehold_users ON DELETE CASCADE,
    role_id text COLLATE "C" NOT NULL
        CONSTRAINT leasehold_role_bindings_role_fkey REFERENCES leasehold_roles,
    created_at timestamptz NOT NULL,
    CONSTRAINT leasehold_role_bindings_bound_key UNIQUE (user_id, namespace, role_id)
)
