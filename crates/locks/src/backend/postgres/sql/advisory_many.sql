-- Take SyncGuard's locks on the keys, in one order for everybody; see advisory.sql.
-- $1 keys
SELECT pg_advisory_xact_lock(hash), set_config('leasehold.advisory', 'taken', true)
  FROM (SELECT DISTINCT hashtext(key) AS hash FROM unnest($1::text[]) AS asked (key) ORDER BY hash) AS hashes
