-- $1 queue_type
SELECT message_id
FROM queue
WHERE queue_type = $1
ORDER BY message_id DESC
LIMIT 1
FOR UPDATE
