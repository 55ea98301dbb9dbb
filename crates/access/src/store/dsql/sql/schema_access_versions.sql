-- How often something was changed that servers remember: 'keys', 'permissions'. They look from time to time, because
-- nothing tells them.
CREATE TABLE IF NOT EXISTS leasehold_access_versions (
    kind text CONSTRAINT leasehold_access_versions_pkey PRIMARY KEY,
    version bigint NOT NULL
)
