-- Those with messages, and those whose readers have left a mark.
SELECT queue_type,
       coalesce(messages.depth, 0) AS depth,
       messages.last_message_id,
       coalesce(queue_metadata.data, '') AS data,
       queue_metadata.data_encoding,
       queue_metadata.version
FROM (
    SELECT queue_type, count(*) AS depth, max(message_id) AS last_message_id
    FROM queue
    GROUP BY queue_type
) AS messages
FULL JOIN queue_metadata USING (queue_type)
ORDER BY queue_type
