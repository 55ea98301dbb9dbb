-- Whether all tables are there: who only uses them need not be allowed to make any.
SELECT bool_and(to_regclass(name) IS NOT NULL)
  FROM unnest(ARRAY['leasehold_namespaces', 'leasehold_users', 'leasehold_api_keys', 'leasehold_roles',
                    'leasehold_role_bindings', 'leasehold_access_marks', 'leasehold_dead_queues']) AS expected (name)
