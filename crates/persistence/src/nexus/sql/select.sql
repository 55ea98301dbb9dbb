-- $1 id
SELECT id, data, data_encoding, version
FROM nexus_endpoints
WHERE id = $1
