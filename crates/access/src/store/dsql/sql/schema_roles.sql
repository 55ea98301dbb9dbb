-- The namespace of a role is there because whoever adds a role claims its row. Permissions are separated by commas: no
-- column may be an array.
CREATE TABLE IF NOT EXISTS leasehold_roles (
    id text CONSTRAINT leasehold_roles_pkey PRIMARY KEY,
    namespace text NOT NULL,
    name text NOT NULL,
    permissions text NOT NULL,
    created_at timestamptz NOT NULL,
    CONSTRAINT leasehold_roles_name_key UNIQUE (namespace, name)
)
