-- What DSQL has and PostgreSQL has not: the list of asynchronous jobs, and a way to wait for one.
CREATE SCHEMA IF NOT EXISTS sys;
CREATE TABLE IF NOT EXISTS sys.jobs (
  job_id      text PRIMARY KEY,
  status      text NOT NULL,
  details     text NOT NULL DEFAULT '',
  job_type    text NOT NULL DEFAULT 'INDEX_BUILD',
  object_name text NOT NULL DEFAULT '',
  start_time  timestamptz NOT NULL DEFAULT now(),
  update_time timestamptz NOT NULL DEFAULT now()
);
CREATE OR REPLACE PROCEDURE sys.wait_for_job(job_id text) LANGUAGE sql AS 'SELECT 1';
