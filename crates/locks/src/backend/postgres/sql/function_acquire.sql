-- The decision of acquire.sql in one call. VOLATILE: each statement inside has a snapshot of its own, so what follows the
-- advisory lock sees who held it before. Plans are kept, and one made while the table was empty would read all of it
-- for ever after; hence no scans.
-- $1 key   $2 fence_key   $3 user_key   $4 lock_id   $5 ttl in ms   $6 whether to take SyncGuard's lock on the key
CREATE OR REPLACE FUNCTION {acquire_function} (text, text, text, text, bigint, boolean)
RETURNS TABLE (outcome text, fence text, expires_at_ms bigint, free_in_ms bigint)
LANGUAGE plpgsql VOLATILE SET enable_seqscan = off AS $function$
#variable_conflict use_column
DECLARE
    held record;
    next bigint;
    in_line boolean := CASE WHEN $6 THEN pg_try_advisory_xact_lock(hashtext($1)) ELSE true END;
BEGIN
    -- Who is not in line yet looks before it waits, so that a held key is refused at once, and after it, where it counts.
    LOOP
        SELECT lock.lock_id, lock.fence, lock.expires_at_ms, {now} AS now_ms INTO held
          FROM {locks} AS lock
         WHERE lock.key = $1;
        IF held.expires_at_ms > held.now_ms - {tolerance} THEN
            outcome := CASE WHEN held.lock_id = $4 THEN 'acquired' ELSE 'held' END;
            fence := held.fence;
            expires_at_ms := held.expires_at_ms;
            free_in_ms := held.expires_at_ms + {tolerance} - held.now_ms;
            RETURN NEXT;
            RETURN;
        END IF;
        EXIT WHEN in_line;
        PERFORM pg_advisory_xact_lock(hashtext($1));
        in_line := true;
    END LOOP;

    UPDATE {fences} AS counter SET fence = counter.fence + 1
     WHERE counter.fence_key = $2 AND counter.fence < {fence_max}
    RETURNING counter.fence INTO next;
    IF NOT FOUND THEN
        next := 1;
        INSERT INTO {fences} (fence_key, fence, key_debug) VALUES ($2, next, $3) ON CONFLICT (fence_key) DO NOTHING;
        IF NOT FOUND THEN
            IF EXISTS (SELECT FROM {fences} AS counter WHERE counter.fence_key = $2 AND counter.fence >= {fence_max}) THEN
                outcome := 'overflow';
                RETURN NEXT;
            END IF;
            -- No row: lost to another first acquire.
            RETURN;
        END IF;
    END IF;

    -- Judged in its newest version, by a clock read after the wait for it.
    IF held.lock_id IS NULL THEN
        INSERT INTO {locks} (key, lock_id, expires_at_ms, acquired_at_ms, fence, user_key)
        SELECT $1, $4, now_ms + $5, now_ms, lpad(next::text, 15, '0'), $3 FROM (SELECT {now} AS now_ms) AS clock
            ON CONFLICT (key) DO NOTHING
        RETURNING fence, expires_at_ms INTO fence, expires_at_ms;
    ELSE
        UPDATE {locks} AS lock
           SET lock_id = $4, expires_at_ms = {now} + $5, acquired_at_ms = {now},
               fence = lpad(next::text, 15, '0'), user_key = $3
         WHERE lock.key = $1 AND lock.expires_at_ms <= {now} - {tolerance}
        RETURNING lock.fence, lock.expires_at_ms INTO fence, expires_at_ms;
    END IF;
    IF NOT FOUND THEN
        -- Another hold came between. The number goes back unseen: until the commit nobody else can read or count it.
        UPDATE {fences} AS counter SET fence = counter.fence - 1 WHERE counter.fence_key = $2;
        RETURN;
    END IF;
    outcome := 'acquired';
    RETURN NEXT;
END
$function$
