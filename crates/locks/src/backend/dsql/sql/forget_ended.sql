-- What a lock id stands for beside the key that it is to hold now. A hold that has ended loses the id; its row, and the fence in
-- it, stay.
-- $1 lock_id   $2 key
UPDATE {locks}
   SET lock_id = CASE WHEN expires_at_ms > {now} - {tolerance} THEN lock_id END
 WHERE lock_id = $1 AND key <> $2
RETURNING lock_id IS NOT NULL AS is_live
