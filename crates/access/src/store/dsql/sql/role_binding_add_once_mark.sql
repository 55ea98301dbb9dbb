-- Behind the binding, which is added only while the mark is not set.   $5 now   $6 mark
INSERT INTO leasehold_access_marks (name, made_at)
SELECT $6, $5
 WHERE EXISTS (SELECT 1 FROM leasehold_roles WHERE id = $4)
   AND EXISTS (SELECT 1 FROM leasehold_users WHERE id = $3)
ON CONFLICT DO NOTHING
