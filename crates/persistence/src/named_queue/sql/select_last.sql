-- $1 queue_type   $2 queue_name
SELECT message_id
FROM queue_messages
WHERE queue_type = $1 AND queue_name = $2 AND queue_partition = 0
ORDER BY message_id DESC
LIMIT 1
