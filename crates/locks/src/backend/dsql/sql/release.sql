-- End the live hold. The row stays: the next fence comes from it.
-- $1 lock_id
UPDATE {locks}
   SET lock_id = CASE WHEN expires_at_ms > {now} - {tolerance} THEN NULL ELSE lock_id END,
       expires_at_ms = CASE WHEN expires_at_ms > {now} - {tolerance} THEN 0 ELSE expires_at_ms END
 WHERE lock_id = $1
RETURNING CASE WHEN lock_id IS NULL THEN 'released' ELSE 'expired' END AS outcome, user_key
