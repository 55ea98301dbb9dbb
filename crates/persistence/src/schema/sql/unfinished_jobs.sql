-- Jobs that are still building an index of this name.   $1 index
SELECT job_id::text AS job_id
FROM sys.jobs
WHERE lower(status::text) IN ('submitted', 'processing') AND position($1 IN object_name::text) > 0
