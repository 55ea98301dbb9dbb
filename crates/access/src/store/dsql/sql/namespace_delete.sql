-- No row back: there was none, or a role is in it.
DELETE FROM leasehold_namespaces
 WHERE name = $1 AND NOT EXISTS (SELECT 1 FROM leasehold_roles WHERE namespace = $1)
RETURNING name
