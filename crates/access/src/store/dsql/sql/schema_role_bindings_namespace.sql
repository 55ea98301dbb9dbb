CREATE INDEX ASYNC IF NOT EXISTS leasehold_role_bindings_namespace ON leasehold_role_bindings (namespace, id)
