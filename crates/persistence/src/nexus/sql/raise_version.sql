-- $1 version
UPDATE nexus_endpoints_partition_status
SET version = $1 + 1
WHERE id = 0 AND version = $1
