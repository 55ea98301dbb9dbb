-- Jobs that are not done.   $1 how many at most
SELECT job_id::text AS job_id, lower(status::text) AS status, coalesce(details::text, '') AS details,
       coalesce(object_name::text, '') AS object_name
  FROM sys.jobs
 WHERE lower(status::text) <> 'completed'
 ORDER BY job_id
 LIMIT $1
