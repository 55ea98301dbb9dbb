SELECT name, description, api_key_tag, created_at FROM leasehold_namespaces WHERE name = $1
