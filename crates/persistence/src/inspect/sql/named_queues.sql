SELECT queue_type,
       queue_name,
       metadata_payload,
       metadata_encoding,
       (
           SELECT max(message_id)
           FROM queue_messages AS message
           WHERE message.queue_type = queues.queue_type
             AND message.queue_name = queues.queue_name
             AND message.queue_partition = 0
       ) AS last_message_id
FROM queues
ORDER BY queue_type, queue_name
