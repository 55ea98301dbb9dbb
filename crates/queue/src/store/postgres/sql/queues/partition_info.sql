(SELECT coalesce(jsonb_agg(jsonb_build_object(
            'PartitionNum', part.number, 'StorageName', part.store, 'ReadOnly', part.read_only,
            'Queue', jsonb_build_object(
                'Name', $1::text, 'Namespace', $2::text, 'LeaseTimeout', $3::bigint, 'ExpireTimeout', $4::bigint,
                'DeadQueue', $5::text, 'MaxAttempts', $6::int, 'Reference', $7::text, 'RequestedPartitions', $8::int,
                'PartitionInfo', NULL,
                'CreatedAt', to_char($12::timestamptz AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
                'UpdatedAt', to_char($13::timestamptz AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')))
                ORDER BY part.place), '[]')
           FROM unnest($9::bigint[], $10::text[], $11::bool[]) WITH ORDINALITY AS part (number, store, read_only, place))
