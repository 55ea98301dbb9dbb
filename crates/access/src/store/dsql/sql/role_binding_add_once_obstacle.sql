-- Nothing is in the way of what was done before.   $6 mark
SELECT CASE WHEN EXISTS (SELECT 1 FROM leasehold_access_marks WHERE name = $6) THEN NULL
            WHEN NOT EXISTS (SELECT 1 FROM leasehold_roles WHERE id = $4) THEN 'leasehold_role_bindings_role_fkey'
            WHEN NOT EXISTS (SELECT 1 FROM leasehold_users WHERE id = $3) THEN 'leasehold_role_bindings_user_fkey'
       END AS obstacle
