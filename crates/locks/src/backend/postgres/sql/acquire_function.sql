-- The decision of acquire.sql after SyncGuard's lock on the key, in one call. VOLATILE: each statement inside has a snapshot
-- of its own, so what follows the advisory lock sees who held it before. Under that lock only an extension at the last
-- moment, or a process in exclusive mode, can still come between: then everything is undone (LH001) and asked again.
-- $1 key   $2 fence_key   $3 user_key   $4 lock_id   $5 ttl in ms
CREATE OR REPLACE FUNCTION {acquire_function} (text, text, text, text, bigint)
RETURNS TABLE (outcome text, fence text, expires_at_ms bigint, free_in_ms bigint)
LANGUAGE plpgsql VOLATILE AS $function$
#variable_conflict use_column
DECLARE
    held record;
    next bigint;
    now_ms bigint;
BEGIN
    -- Once before the wait, so that a held key is refused without it, and once after it, where it counts.
    FOR look IN 1..2 LOOP
        SELECT lock.lock_id, lock.fence, lock.expires_at_ms, {now} AS now_ms INTO held
          FROM {locks} AS lock
         WHERE lock.key = $1 AND lock.expires_at_ms > {now} - {tolerance};
        IF FOUND THEN
            outcome := CASE WHEN held.lock_id = $4 THEN 'acquired' ELSE 'held' END;
            fence := held.fence;
            expires_at_ms := held.expires_at_ms;
            free_in_ms := held.expires_at_ms + {tolerance} - held.now_ms;
            RETURN NEXT;
            RETURN;
        END IF;
        IF look = 1 THEN
            PERFORM pg_advisory_xact_lock(hashtext($1));
        END IF;
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
                RETURN;
            END IF;
            RAISE EXCEPTION 'another acquire came between' USING ERRCODE = 'LH001';
        END IF;
    END IF;

    now_ms := {now};
    outcome := 'acquired';
    fence := lpad(next::text, 15, '0');
    expires_at_ms := now_ms + $5;
    INSERT INTO {locks} AS lock (key, lock_id, expires_at_ms, acquired_at_ms, fence, user_key)
    VALUES ($1, $4, now_ms + $5, now_ms, lpad(next::text, 15, '0'), $3)
        ON CONFLICT (key) DO UPDATE
       SET lock_id = EXCLUDED.lock_id, expires_at_ms = EXCLUDED.expires_at_ms,
           acquired_at_ms = EXCLUDED.acquired_at_ms, fence = EXCLUDED.fence, user_key = EXCLUDED.user_key
     WHERE lock.expires_at_ms <= {now} - {tolerance};
    IF NOT FOUND THEN
        RAISE EXCEPTION 'another hold came between' USING ERRCODE = 'LH001';
    END IF;
    RETURN NEXT;
END
$function$
