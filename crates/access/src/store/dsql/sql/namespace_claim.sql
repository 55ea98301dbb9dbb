-- Whoever deletes the namespace at the same time and commits later fails, or this does.   $2 namespace
SELECT name FROM leasehold_namespaces WHERE name = $2 FOR UPDATE
