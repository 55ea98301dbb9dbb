-- The queues, and the numbers of their partitions however deep they are nested.   $1 how many at most
SELECT name, dead_queue,
       ARRAY(SELECT DISTINCT (number #>> '{}')::bigint
               FROM jsonb_path_query(partition_info, 'strict $.**.PartitionNum') AS number ORDER BY 1) AS partitions,
       dead_queue <> '' AND NOT EXISTS (SELECT FROM queues AS dead WHERE dead.name = queues.dead_queue) AS lacks_dead
  FROM queues ORDER BY name LIMIT $1
