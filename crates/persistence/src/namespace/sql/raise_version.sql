-- $1 notification_version
UPDATE namespace_metadata
SET notification_version = $1 + 1
WHERE partition_id = 54321 AND notification_version = $1
