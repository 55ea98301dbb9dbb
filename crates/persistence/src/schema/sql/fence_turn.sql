-- One at a time builds: two at once would wait for each other. Asked, never waited for: whoever waits here has a snapshot,
-- for which the build would wait.
SELECT pg_try_advisory_xact_lock(hashtext('leasehold.shards_fence')) AS is_mine
