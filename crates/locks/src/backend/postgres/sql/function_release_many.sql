-- release_many.sql in one call; see function_acquire.sql. Those that are live are ended without being locked first; what is
-- left is nobody's hold any more, and rare.
-- $1 lock_ids
CREATE OR REPLACE FUNCTION {release_many_function} (text[])
RETURNS TABLE (outcome text, lock_id text, user_key text)
LANGUAGE plpgsql VOLATILE SET enable_seqscan = off AS $function$
#variable_conflict use_column
DECLARE
    ended bigint;
BEGIN
    RETURN QUERY
    DELETE FROM {locks} AS lock
     WHERE lock.lock_id = ANY ($1) AND lock.expires_at_ms > {now} - {tolerance}
    RETURNING 'released', lock.lock_id, lock.user_key;
    GET DIAGNOSTICS ended = ROW_COUNT;
    IF ended < cardinality($1) THEN
        -- Those ended above are gone for this statement, as for everybody.
        RETURN QUERY
{release_many};
    END IF;
END
$function$
