SELECT version
FROM nexus_endpoints_partition_status
WHERE id = 0
