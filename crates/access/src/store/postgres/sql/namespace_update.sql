-- No row back: there is none of this name.
UPDATE leasehold_namespaces SET description = $2, api_key_tag = $3 WHERE name = $1 RETURNING name
