-- Records that name others which are not there: no foreign key keeps those who write past the servers from that.
SELECT (SELECT count(*) FROM leasehold_roles AS role
         WHERE NOT EXISTS (SELECT 1 FROM leasehold_namespaces WHERE name = role.namespace)) AS roles,
       (SELECT count(*) FROM leasehold_api_keys AS key
         WHERE NOT EXISTS (SELECT 1 FROM leasehold_users WHERE id = key.user_id)) AS keys,
       (SELECT count(*) FROM leasehold_role_bindings AS bound
         WHERE NOT EXISTS (SELECT 1 FROM leasehold_users WHERE id = bound.user_id)
            OR NOT EXISTS (SELECT 1 FROM leasehold_roles WHERE id = bound.role_id)) AS bindings
