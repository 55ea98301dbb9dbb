-- release.sql for many holds. An id without a row in the answer was not found.
-- $1 lock_ids
WITH ended AS (
    DELETE FROM {locks}
     WHERE lock_id = ANY ($1) AND expires_at_ms > {now} - {tolerance}
    RETURNING lock_id, user_key
)
SELECT 'released' AS outcome, lock_id, user_key FROM ended
UNION ALL
SELECT 'expired', lock_id, NULL
  FROM {locks}
 WHERE lock_id = ANY ($1) AND expires_at_ms <= {now} - {tolerance}
