INSERT INTO schema_update_history
    (version_partition, year, month, update_time, old_version, new_version, manifest_md5, description)
SELECT 0,
       extract(year FROM at.utc)::integer,
       extract(month FROM at.utc)::integer,
       at.utc,
       '0',
       '1.19',
       '',
       'made by leasehold'
FROM (SELECT now() AT TIME ZONE 'UTC' AS utc) AS at
WHERE NOT EXISTS (SELECT 1 FROM schema_version WHERE version_partition = 0 AND db_name = current_database())
-- Two transactions may begin in the same microsecond: the other's row is as good as this one.
ON CONFLICT (version_partition, year, month, update_time) DO NOTHING
