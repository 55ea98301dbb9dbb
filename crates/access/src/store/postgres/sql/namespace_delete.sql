-- No row back: there was none. A role in it makes the constraint refuse.
DELETE FROM leasehold_namespaces WHERE name = $1 RETURNING name
