-- No row back: the name is taken.
INSERT INTO leasehold_namespaces (name, description, api_key_tag, created_at)
VALUES ($1, $2, $3, $4)
ON CONFLICT (name) DO NOTHING
RETURNING name
