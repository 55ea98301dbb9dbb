-- $1 queue_type   $2 the name before the page   $3 how many
SELECT
    queue_name,
    metadata_payload,
    metadata_encoding,
    (
        SELECT max(message_id)
        FROM queue_messages
        WHERE queue_messages.queue_type = queues.queue_type
          AND queue_messages.queue_name = queues.queue_name
          AND queue_messages.queue_partition = 0
    ) AS last_message_id
FROM queues
WHERE queue_type = $1 AND queue_name > $2
ORDER BY queue_name
LIMIT $3
