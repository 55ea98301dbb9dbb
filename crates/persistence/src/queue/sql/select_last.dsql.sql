-- Not locked: DSQL locks rows by their whole key only, and the key of the row that follows decides anyway.
-- $1 queue_type
SELECT message_id
FROM queue
WHERE queue_type = $1
ORDER BY message_id DESC
LIMIT 1
