-- One server at a time makes or drops tables: CREATE … IF NOT EXISTS alone fails when two do.
SELECT pg_advisory_xact_lock(7811887512463402094)
