SELECT id, username, external_id, email, created_at, updated_at FROM leasehold_users WHERE id = $1
