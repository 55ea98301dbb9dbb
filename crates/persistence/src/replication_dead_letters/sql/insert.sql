-- $1 source_cluster_name   $2 shard_id   $3 task_id   $4 data   $5 data_encoding
INSERT INTO replication_tasks_dlq (source_cluster_name, shard_id, task_id, data, data_encoding)
VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (source_cluster_name, shard_id, task_id) DO NOTHING
