-- End the live hold. The reason of a refusal comes from the same statement: a row that was live in its snapshot and
-- was not deleted is somebody else's by now.
-- $1 lock_id
WITH ended AS (
    DELETE FROM {locks}
     WHERE lock_id = $1 AND expires_at_ms > {now} - {tolerance}
    RETURNING user_key
)
SELECT 'released' AS outcome, user_key FROM ended
UNION ALL
SELECT CASE WHEN expires_at_ms > {now} - {tolerance} THEN 'not-found' ELSE 'expired' END, NULL
  FROM {locks}
 WHERE lock_id = $1 AND NOT EXISTS (SELECT FROM ended)
