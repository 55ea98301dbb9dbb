-- $1 id
DELETE FROM nexus_endpoints
WHERE id = $1
