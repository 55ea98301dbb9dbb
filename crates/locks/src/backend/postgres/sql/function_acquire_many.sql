-- acquire_many.sql in one call, after advisory_many.sql where that is asked for; see function_acquire.sql.
-- $1 keys   $2 fence_keys   $3 user_keys   $4 lock_ids   $5 ttls in ms   $6 whether to take SyncGuard's locks on the keys
CREATE OR REPLACE FUNCTION {acquire_many_function} (text[], text[], text[], text[], bigint[], boolean)
RETURNS TABLE (outcome text, key text, lock_id text, fence text, expires_at_ms bigint, free_in_ms bigint)
LANGUAGE plpgsql VOLATILE SET enable_seqscan = off AS $function$
#variable_conflict use_column
BEGIN
    IF $6 THEN
        PERFORM pg_advisory_xact_lock(hash)
           FROM (SELECT DISTINCT hashtext(key) AS hash FROM unnest($1) AS asked (key) ORDER BY hash) AS hashes;
    END IF;
    RETURN QUERY
{acquire_many};
END
$function$
