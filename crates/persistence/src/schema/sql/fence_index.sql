-- Whether `shards` is there, and whether its range is part of a key: some unique index has exactly both columns for its keys (what it
-- includes besides is none), is valid, and has neither a predicate nor an expression.
SELECT
    shards.oid IS NOT NULL AS has_table,
    EXISTS (
        SELECT 1
        FROM pg_index
        WHERE indrelid = shards.oid
          AND indisunique
          AND indisvalid
          AND indpred IS NULL
          AND indexprs IS NULL
          AND indnkeyatts = 2
          AND (
              SELECT count(*)
              FROM pg_attribute
              WHERE attrelid = shards.oid AND attnum = ANY ((indkey::int2[])[0:1]) AND attname IN ('shard_id', 'range_id')
          ) = 2
    ) AS has_index
FROM (SELECT to_regclass('shards')::oid AS oid) AS shards
