-- No row back: there is none.
UPDATE leasehold_roles SET permissions = array_to_string($2::text[], ',') WHERE id = $1 RETURNING id
