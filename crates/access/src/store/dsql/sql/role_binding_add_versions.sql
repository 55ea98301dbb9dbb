-- Before the binding itself: afterwards one that was there could not be told from one that was added.
INSERT INTO leasehold_access_versions AS told (kind, version)
SELECT 'permissions', 1
 WHERE EXISTS (SELECT 1 FROM leasehold_roles WHERE id = $4)
   AND EXISTS (SELECT 1 FROM leasehold_users WHERE id = $3)
   AND NOT EXISTS (SELECT 1 FROM leasehold_role_bindings
                    WHERE id = $1 OR (user_id = $3 AND namespace = $2 AND role_id = $4))
ON CONFLICT (kind) DO UPDATE SET version = told.version + 1
