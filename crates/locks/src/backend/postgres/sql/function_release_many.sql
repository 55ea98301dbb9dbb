-- release_many.sql in one call; see function_acquire.sql.
-- $1 lock_ids
CREATE OR REPLACE FUNCTION {release_many_function} (text[])
RETURNS TABLE (outcome text, lock_id text, user_key text)
LANGUAGE plpgsql VOLATILE SET enable_seqscan = off AS $function$
#variable_conflict use_column
BEGIN
    RETURN QUERY
{release_many};
END
$function$
