-- Put your statement in place of the last one, and keep its EXISTS: it writes only if no newer fence was seen.
-- $1 resource   $2 fence, as a number   No row changed means that a newer holder has been here: stop.
WITH leasehold_guard AS (
    INSERT INTO leasehold_fence_guard AS seen (resource, fence)
    VALUES ($1, $2)
    ON CONFLICT (resource) DO UPDATE SET fence = EXCLUDED.fence WHERE seen.fence <= EXCLUDED.fence
    RETURNING resource
)
UPDATE account SET balance = balance - $4 WHERE id = $3 AND EXISTS (SELECT 1 FROM leasehold_guard);
