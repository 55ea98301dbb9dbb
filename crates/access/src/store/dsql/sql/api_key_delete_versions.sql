-- Servers that remember the key see that something changed if it is committed, and only then.
INSERT INTO leasehold_access_versions AS told (kind, version)
SELECT 'keys', 1
 WHERE EXISTS (SELECT 1 FROM leasehold_api_keys WHERE id = $1)
ON CONFLICT (kind) DO UPDATE SET version = told.version + 1
