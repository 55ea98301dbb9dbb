-- In the order in which PostgreSQL's constraints refuse.
SELECT CASE WHEN EXISTS (SELECT 1 FROM leasehold_role_bindings WHERE id = $1) THEN 'leasehold_role_bindings_pkey'
            WHEN EXISTS (SELECT 1 FROM leasehold_role_bindings
                          WHERE user_id = $3 AND namespace = $2 AND role_id = $4)
                THEN 'leasehold_role_bindings_bound_key'
            WHEN NOT EXISTS (SELECT 1 FROM leasehold_roles WHERE id = $4) THEN 'leasehold_role_bindings_role_fkey'
            WHEN NOT EXISTS (SELECT 1 FROM leasehold_users WHERE id = $3) THEN 'leasehold_role_bindings_user_fkey'
       END AS obstacle
