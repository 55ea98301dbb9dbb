-- $1 id   $2 version   $3 data   $4 data_encoding
UPDATE nexus_endpoints
SET data = $3, data_encoding = $4, version = $2 + 1
WHERE id = $1 AND version = $2
