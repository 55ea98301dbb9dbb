-- No row back: there was none. A binding to it makes the constraint refuse.
DELETE FROM leasehold_roles WHERE id = $1 RETURNING id
