-- Make the live hold last $2 from now. One that is over stays as it is, and so ends in the past.
-- $1 lock_id   $2 ttl in ms
UPDATE {locks}
   SET expires_at_ms = CASE WHEN expires_at_ms > {now} - {tolerance} THEN {now} + $2 ELSE expires_at_ms END
 WHERE lock_id = $1
RETURNING CASE WHEN expires_at_ms > {now} THEN 'extended' ELSE 'expired' END AS outcome, expires_at_ms
