-- The channel of those who share the tables; null until there are some.
SELECT 'leasehold_access_' || to_regclass('leasehold_api_keys')::oid
