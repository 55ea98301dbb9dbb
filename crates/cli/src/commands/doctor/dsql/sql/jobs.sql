-- Jobs that are not done, or that failed: a failed build is listed as completed, with the reason.   $1 how many at most
SELECT job_id::text AS job_id, CASE WHEN lower(status::text) = 'completed' THEN 'failed' ELSE lower(status::text) END AS status, coalesce(details::text, '') AS details,
       coalesce(object_name::text, '') AS object_name
  FROM sys.jobs
 WHERE lower(status::text) <> 'completed' OR coalesce(details::text, '') <> ''
 ORDER BY job_id
 LIMIT $1
