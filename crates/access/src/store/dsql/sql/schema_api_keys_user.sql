CREATE INDEX ASYNC IF NOT EXISTS leasehold_api_keys_user ON leasehold_api_keys (user_id, id)
