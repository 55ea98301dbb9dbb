-- What DSQL has and PostgreSQL has not: the list of asynchronous jobs, and a way to wait for one.
-- And what only a simulator has: faults to be armed, counters to be read.
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
