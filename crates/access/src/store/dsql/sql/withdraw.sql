-- Of two withdrawals at the same time the later commit fails, and looks again: both write this row.
INSERT INTO leasehold_access_versions AS told (kind, version) VALUES ('withdrawals', 1)
ON CONFLICT (kind) DO UPDATE SET version = told.version + 1
