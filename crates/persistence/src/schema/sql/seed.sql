-- The counter that every change of a namespace moves; nothing works without it.
SELECT notification_version
FROM namespace_metadata
WHERE partition_id = 54321
