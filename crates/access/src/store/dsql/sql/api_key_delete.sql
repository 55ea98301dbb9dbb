-- No row back: there was none.
DELETE FROM leasehold_api_keys WHERE id = $1 RETURNING id
