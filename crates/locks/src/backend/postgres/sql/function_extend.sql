-- The decision of extend.sql in one call; see function_acquire.sql.
-- $1 lock_id   $2 ttl in ms
-- 'extended', its end; 'expired'; or null: not found.
CREATE OR REPLACE FUNCTION {extend_function} (text, bigint)
RETURNS text
LANGUAGE plpgsql VOLATILE SET enable_seqscan = off AS $function$
DECLARE
    held_key text;
    ends bigint;
    now_ms bigint;
BEGIN
    SELECT lock.key, lock.expires_at_ms INTO held_key, ends FROM {locks} AS lock WHERE lock.lock_id = $1 FOR UPDATE;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    -- After the wait for the row.
    now_ms := {now};
    IF ends <= now_ms - {tolerance} THEN
        RETURN 'expired';
    END IF;
    UPDATE {locks} AS lock SET expires_at_ms = now_ms + $2 WHERE lock.key = held_key;
    RETURN 'extended ' || now_ms + $2;
END
$function$
