-- Whether an index is valid, which job is at work on it, and what a job says of its end.   $1 index   $2 job id
SELECT built.indisvalid AS is_valid,
       (SELECT job.job_id::text
          FROM sys.jobs AS job
         WHERE lower(job.status::text) IN ('submitted', 'processing')
           AND (job.job_id::text = $2
                OR job.object_name::text IN (made.relname::text, space.nspname::text || '.' || made.relname::text))
         LIMIT 1) AS job_id,
       (SELECT job.details::text FROM sys.jobs AS job WHERE job.job_id::text = $2) AS details
  FROM pg_class AS made
  JOIN pg_index AS built ON built.indexrelid = made.oid
  JOIN pg_namespace AS space ON space.oid = made.relnamespace
 WHERE made.relname = $1 AND pg_table_is_visible(made.oid)
