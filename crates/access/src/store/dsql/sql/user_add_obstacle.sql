-- Two that add the same id or name at once write the same key: the later commit fails, and looks again.
SELECT CASE WHEN EXISTS (SELECT 1 FROM leasehold_users WHERE id = $1) THEN 'leasehold_users_pkey'
            WHEN EXISTS (SELECT 1 FROM leasehold_users WHERE username = $2) THEN 'leasehold_users_username_key'
       END AS obstacle
