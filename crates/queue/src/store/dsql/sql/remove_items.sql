-- Deletes items, whatever they are.   $1 $2 $3 as owned.sql   $4 ids
DELETE FROM leasehold_items WHERE queue = $1 AND partition = $2 AND id = ANY ($4::text[]) AND {owned}
