SELECT to_regclass('shards') IS NOT NULL AS has_shards
