name, namespace, lease_timeout_ns, expire_timeout_ns, dead_queue, max_attempts, reference, requested_partitions,
       ARRAY (SELECT coalesce((part ->> 'PartitionNum')::bigint, 0) FROM jsonb_array_elements(partition_info::jsonb)
              WITH ORDINALITY AS parts (part, place) ORDER BY place) AS partition_numbers,
       ARRAY (SELECT coalesce(part ->> 'StorageName', '') FROM jsonb_array_elements(partition_info::jsonb)
              WITH ORDINALITY AS parts (part, place) ORDER BY place) AS partition_stores,
       ARRAY (SELECT coalesce((part ->> 'ReadOnly')::bool, false) FROM jsonb_array_elements(partition_info::jsonb)
              WITH ORDINALITY AS parts (part, place) ORDER BY place) AS partition_read_only,
       created_at, updated_at
