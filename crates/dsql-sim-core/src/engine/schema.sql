-- What DSQL has and PostgreSQL has not: the list of asynchronous jobs, and a way to wait for one.
-- And what only a simulator has: faults to be armed, counters to be read.
CREATE SCHEMA IF NOT EXISTS sys;
-- An earlier simulator had other columns. Its jobs ended with it.
DO $$
BEGIN
  IF to_regclass('sys.jobs') IS NOT NULL
     AND NOT EXISTS (SELECT FROM pg_attribute WHERE attrelid = to_regclass('sys.jobs') AND attname = 'object_id') THEN
    DROP TABLE sys.jobs;
  END IF;
END $$;
CREATE TABLE IF NOT EXISTS sys.jobs (
  job_id      text PRIMARY KEY,
  status      text NOT NULL,
  -- NULL until the job ends; then why it failed, or nothing.
  details     text,
  job_type    text NOT NULL DEFAULT 'INDEX_BUILD',
  class_id    oid,
  object_id   oid,
  object_name text NOT NULL DEFAULT '',
  start_time  timestamptz NOT NULL DEFAULT now(),
  update_time timestamptz
);
DROP PROCEDURE IF EXISTS sys.wait_for_job(text);
CREATE OR REPLACE PROCEDURE sys.wait_for_job(job_id text, INOUT wait_for_job boolean DEFAULT NULL)
LANGUAGE plpgsql AS $$
BEGIN
  SELECT job.status = 'completed' AND job.details = '' INTO wait_for_job FROM sys.jobs AS job WHERE job.job_id = $1;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'Unable to convert text to UUID' USING ERRCODE = '22P02';
  END IF;
END $$;
CREATE TABLE IF NOT EXISTS sys.faults (
  name    text GENERATED ALWAYS AS (rule ->> 'name') STORED PRIMARY KEY,
  rule    json NOT NULL,
  matched bigint NOT NULL DEFAULT 0,
  fired   bigint NOT NULL DEFAULT 0
);
CREATE TABLE IF NOT EXISTS sys.counters (
  name  text PRIMARY KEY,
  value bigint NOT NULL
);
-- Faults of an earlier simulator are not meant for this one.
TRUNCATE sys.faults, sys.counters;
