-- A lookup in one call, planned without scans; see function_acquire.sql. STABLE: it is one look.
-- $1 key or lock_id
CREATE OR REPLACE FUNCTION {function} (text)
RETURNS TABLE (user_key text, lock_id text, expires_at_ms bigint, acquired_at_ms bigint, fence text, now_ms bigint)
LANGUAGE plpgsql STABLE SET enable_seqscan = off AS $function$
#variable_conflict use_column
BEGIN
    RETURN QUERY
{lookup};
END
$function$
