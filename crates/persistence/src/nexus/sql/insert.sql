-- $1 id   $2 data   $3 data_encoding
INSERT INTO nexus_endpoints (id, data, data_encoding, version)
VALUES ($1, $2, $3, 1)
ON CONFLICT (id) DO NOTHING
