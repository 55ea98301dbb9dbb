-- The decision of acquire.sql in one call. VOLATILE: each statement inside has a snapshot of its own, so what follows the
-- advisory lock sees who held it before. Plans are kept, and one made while the table was empty would read all of it
-- for ever after; hence no scans.
-- $1 key   $2 fence_key   $3 user_key   $4 lock_id   $5 ttl in ms   $6 whether to take SyncGuard's lock on the key
-- 'acquired', its end, its fence; 'held', for so many ms; 'overflow'; or null: lost to another acquire, ask again. One
-- value and not a row: a function in FROM has its rows stored before they are read, which costs more than the look for a hold.
CREATE OR REPLACE FUNCTION {acquire_function} (text, text, text, text, bigint, boolean)
RETURNS text
LANGUAGE plpgsql VOLATILE SET enable_seqscan = off AS $function$
DECLARE
    held record;
    next bigint;
    ends bigint;
    in_line boolean := CASE WHEN $6 THEN pg_try_advisory_xact_lock(hashtext($1)) ELSE true END;
BEGIN
    -- Who is not in line yet looks before it waits, so that a held key is refused at once, and after it, where it counts.
    LOOP
        SELECT lock.lock_id, lock.fence, lock.expires_at_ms, {now} AS now_ms INTO held
          FROM {locks} AS lock
         WHERE lock.key = $1;
        IF held.expires_at_ms > held.now_ms - {tolerance} THEN
            IF held.lock_id = $4 THEN
                RETURN 'acquired ' || held.expires_at_ms || ' ' || held.fence;
            END IF;
            RETURN 'held ' || held.expires_at_ms + {tolerance} - held.now_ms;
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
                RETURN 'overflow';
            END IF;
            -- Lost to another first acquire.
            RETURN NULL;
        END IF;
    END IF;

    -- Judged in its newest version, by a clock read after the wait for it.
    IF held.lock_id IS NULL THEN
        INSERT INTO {locks} (key, lock_id, expires_at_ms, acquired_at_ms, fence, user_key)
        SELECT $1, $4, now_ms + $5, now_ms, lpad(next::text, 15, '0'), $3 FROM (SELECT {now} AS now_ms) AS clock
            ON CONFLICT (key) DO NOTHING
        RETURNING expires_at_ms INTO ends;
    ELSE
        UPDATE {locks} AS lock
           SET lock_id = $4, expires_at_ms = {now} + $5, acquired_at_ms = {now},
               fence = lpad(next::text, 15, '0'), user_key = $3
         WHERE lock.key = $1 AND lock.expires_at_ms <= {now} - {tolerance}
        RETURNING lock.expires_at_ms INTO ends;
    END IF;
    IF NOT FOUND THEN
        -- Another hold came between. The number goes back unseen: until the commit nobody else can read or count it.
        UPDATE {fences} AS counter SET fence = counter.fence - 1 WHERE counter.fence_key = $2;
        RETURN NULL;
    END IF;
    RETURN 'acquired ' || ends || ' ' || lpad(next::text, 15, '0');
END
$function$
