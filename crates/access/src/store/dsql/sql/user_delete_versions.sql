-- Servers that remember keys or permissions of the user see that something changed.
INSERT INTO leasehold_access_versions AS told (kind, version)
SELECT changed.kind, 1 FROM (VALUES ('keys'), ('permissions')) AS changed (kind)
 WHERE EXISTS (SELECT 1 FROM leasehold_users WHERE id = $1)
ON CONFLICT (kind) DO UPDATE SET version = told.version + 1
