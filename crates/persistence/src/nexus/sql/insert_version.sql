INSERT INTO nexus_endpoints_partition_status (id, version)
VALUES (0, 1)
ON CONFLICT (id) DO NOTHING
