SELECT DISTINCT queue_type
FROM queues
ORDER BY queue_type
