-- What the statements behind this one do, where nothing is in the way.   $6 mark
SELECT NOT EXISTS (SELECT 1 FROM leasehold_access_marks WHERE name = $6) AS marked,
       NOT EXISTS (SELECT 1 FROM leasehold_role_bindings
                    WHERE id = $1 OR (user_id = $3 AND namespace = $2 AND role_id = $4)) AS added
