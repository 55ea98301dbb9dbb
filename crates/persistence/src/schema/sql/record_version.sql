INSERT INTO schema_version (version_partition, db_name, creation_time, curr_version, min_compatible_version)
VALUES (0, current_database(), now() AT TIME ZONE 'UTC', '1.19', '1.0')
ON CONFLICT (version_partition, db_name) DO NOTHING
