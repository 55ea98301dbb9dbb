-- When the keys of some users end that are scoped to no namespace.   $1 users
SELECT expires_at FROM leasehold_api_keys WHERE namespace_scope IS NULL AND user_id = ANY ($1::text[])
