INSERT INTO leasehold_users (id, username, external_id, email, created_at, updated_at)
VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT DO NOTHING
