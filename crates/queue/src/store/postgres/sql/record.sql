-- The record of the queue that was created then, kept until this has committed.   $1 queue   $2 time of its creation
SELECT 1 FROM queues WHERE name = $1 AND created_at = $2 FOR KEY SHARE
