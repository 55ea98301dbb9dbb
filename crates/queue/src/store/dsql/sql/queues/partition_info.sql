(SELECT coalesce(jsonb_agg(jsonb_build_object('PartitionNum', part.number, 'StorageName', part.store,
                                               'ReadOnly', part.read_only) ORDER BY part.place), '[]')::text
           FROM unnest($9::bigint[], $10::text[], $11::bool[]) WITH ORDINALITY AS part (number, store, read_only, place))
