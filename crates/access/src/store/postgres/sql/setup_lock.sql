-- Two servers that set up at once would trip over each other's half-made tables.
SELECT pg_advisory_xact_lock(hashtext('leasehold.setup'))
