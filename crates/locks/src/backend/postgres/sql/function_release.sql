-- The decision of release.sql in one call; see function_acquire.sql.
-- $1 lock_id
-- 'released', the user's key; 'expired'; or null: not found.
CREATE OR REPLACE FUNCTION {release_function} (text)
RETURNS text
LANGUAGE plpgsql VOLATILE SET enable_seqscan = off AS $function$
DECLARE
    ended_key text;
    ends bigint;
BEGIN
    LOOP
        DELETE FROM {locks} AS lock
         WHERE lock.lock_id = $1 AND lock.expires_at_ms > {now} - {tolerance}
        RETURNING lock.user_key INTO ended_key;
        IF FOUND THEN
            RETURN 'released ' || ended_key;
        END IF;
        -- Not live in that snapshot; an extension of it may be on its way. Locked, the newest version is judged.
        SELECT lock.expires_at_ms INTO ends FROM {locks} AS lock WHERE lock.lock_id = $1 FOR UPDATE;
        IF NOT FOUND THEN
            RETURN NULL;
        END IF;
        IF ends <= {now} - {tolerance} THEN
            RETURN 'expired';
        END IF;
    END LOOP;
END
$function$
