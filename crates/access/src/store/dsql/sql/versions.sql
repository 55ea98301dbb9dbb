-- One row, also before anything was changed.
SELECT coalesce((SELECT version FROM leasehold_access_versions WHERE kind = 'keys'), 0) AS keys,
       coalesce((SELECT version FROM leasehold_access_versions WHERE kind = 'permissions'), 0) AS permissions
