-- At least one row, which has the version of the table and nothing else where there are no endpoints.
-- $1 the id before the page, or null   $2 how many
SELECT status.table_version, endpoint.id, endpoint.data, endpoint.data_encoding, endpoint.version
FROM (
    SELECT coalesce(max(version), 0) AS table_version
    FROM nexus_endpoints_partition_status
    WHERE id = 0
) AS status
LEFT JOIN (
    SELECT id, data, data_encoding, version
    FROM nexus_endpoints
    WHERE id > $1 OR $1 IS NULL
    ORDER BY id
    LIMIT $2
) AS endpoint ON true
ORDER BY endpoint.id
