-- In the order in which PostgreSQL's constraints refuse.
SELECT CASE WHEN EXISTS (SELECT 1 FROM leasehold_roles WHERE id = $1) THEN 'leasehold_roles_pkey'
            WHEN EXISTS (SELECT 1 FROM leasehold_roles WHERE namespace = $2 AND name = $3)
                THEN 'leasehold_roles_name_key'
            WHEN NOT EXISTS (SELECT 1 FROM leasehold_namespaces WHERE name = $2)
                THEN 'leasehold_roles_namespace_fkey'
       END AS obstacle
