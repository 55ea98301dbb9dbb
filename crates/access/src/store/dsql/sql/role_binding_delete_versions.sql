-- Servers that remember the binding see that something changed if it is committed, and only then.
INSERT INTO leasehold_access_versions AS told (kind, version)
SELECT 'permissions', 1
 WHERE EXISTS (SELECT 1 FROM leasehold_role_bindings WHERE namespace = $1 AND user_id = $2 AND role_id = $3)
ON CONFLICT (kind) DO UPDATE SET version = told.version + 1
