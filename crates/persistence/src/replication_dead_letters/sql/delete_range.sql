-- $1 source_cluster_name   $2 shard_id   $3 first task_id   $4 end task_id
DELETE FROM replication_tasks_dlq
WHERE source_cluster_name = $1 AND shard_id = $2 AND task_id >= $3 AND task_id < $4
