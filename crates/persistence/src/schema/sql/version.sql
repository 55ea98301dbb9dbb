-- Which version of Temporal's schema this database is said to have.
SELECT curr_version AS version
FROM schema_version
WHERE version_partition = 0 AND db_name = current_database()
