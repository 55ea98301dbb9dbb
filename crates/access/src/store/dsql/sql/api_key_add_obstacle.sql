-- In the order in which PostgreSQL's constraints refuse.
SELECT CASE WHEN EXISTS (SELECT 1 FROM leasehold_api_keys WHERE id = $1) THEN 'leasehold_api_keys_pkey'
            WHEN EXISTS (SELECT 1 FROM leasehold_api_keys WHERE hash = $2) THEN 'leasehold_api_keys_hash_key'
            WHEN NOT EXISTS (SELECT 1 FROM leasehold_users WHERE id = $3) THEN 'leasehold_api_keys_user_fkey'
       END AS obstacle
