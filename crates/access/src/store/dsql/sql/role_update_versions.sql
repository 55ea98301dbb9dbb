-- Servers that remember what the role allowed see that something changed if it is committed, and only then.
INSERT INTO leasehold_access_versions AS told (kind, version)
SELECT 'permissions', 1
 WHERE EXISTS (SELECT 1 FROM leasehold_roles WHERE id = $1)
ON CONFLICT (kind) DO UPDATE SET version = told.version + 1
