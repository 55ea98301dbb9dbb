SELECT notification_version
FROM namespace_metadata
WHERE partition_id = 54321
