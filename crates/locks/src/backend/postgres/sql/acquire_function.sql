-- One call for what otherwise travels as four statements. VOLATILE: each statement inside has a snapshot of its own, so
-- what follows the advisory lock sees who held it before.
CREATE OR REPLACE FUNCTION {acquire_function} (text, text, text, text, bigint)
RETURNS TABLE (outcome text, fence text, expires_at_ms bigint, free_in_ms bigint)
LANGUAGE plpgsql VOLATILE AS $function$
#variable_conflict use_column
BEGIN
    -- A held key is refused without waiting for anybody.
    RETURN QUERY
    SELECT CASE WHEN lock_id = $4 THEN 'acquired' ELSE 'held' END, fence, expires_at_ms,
           expires_at_ms + {tolerance} - {now}
      FROM {locks}
     WHERE key = $1 AND expires_at_ms > {now} - {tolerance};
    IF NOT FOUND THEN
        PERFORM pg_advisory_xact_lock(hashtext($1));
        RETURN QUERY
{acquire};
    END IF;
END
$function$
