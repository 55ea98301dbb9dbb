-- Queues whose dead have nowhere to go.   $1 how many at most
SELECT name, dead_queue
  FROM queues
 WHERE dead_queue <> '' AND NOT EXISTS (SELECT 1 FROM queues AS dead WHERE dead.name = queues.dead_queue)
 ORDER BY name
 LIMIT $1
