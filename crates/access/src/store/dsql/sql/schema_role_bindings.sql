-- Role and user of a binding are there because whoever adds one claims both rows.
CREATE TABLE IF NOT EXISTS leasehold_role_bindings (
    id text CONSTRAINT leasehold_role_bindings_pkey PRIMARY KEY,
    namespace text NOT NULL,
    user_id text NOT NULL,
    role_id text NOT NULL,
    created_at timestamptz NOT NULL,
    CONSTRAINT leasehold_role_bindings_bound_key UNIQUE (user_id, namespace, role_id)
)
