CREATE INDEX ASYNC IF NOT EXISTS leasehold_role_bindings_role ON leasehold_role_bindings (role_id)
