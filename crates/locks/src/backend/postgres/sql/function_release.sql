-- The decision of release.sql in one call; see function_acquire.sql.
-- $1 lock_id
CREATE OR REPLACE FUNCTION {release_function} (text)
RETURNS TABLE (outcome text, user_key text)
LANGUAGE plpgsql VOLATILE SET enable_seqscan = off AS $function$
#variable_conflict use_column
BEGIN
    DELETE FROM {locks} AS lock
     WHERE lock.lock_id = $1 AND lock.expires_at_ms > {now} - {tolerance}
    RETURNING lock.user_key INTO user_key;
    IF FOUND THEN
        outcome := 'released';
        RETURN NEXT;
    ELSIF EXISTS (SELECT FROM {locks} AS lock WHERE lock.lock_id = $1) THEN
        outcome := 'expired';
        RETURN NEXT;
    END IF;
END
$function$
