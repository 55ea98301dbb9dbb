-- Deletes leased items, all of them or none.   $1 $2 $3 as owned.sql   $4 ids, each once   $5 how many
DELETE FROM leasehold_items
 WHERE queue = $1 AND partition = $2 AND id = ANY ($4::text[])
   AND (SELECT count(*) FROM leasehold_items AS item WHERE {held}) = $5 AND {owned}
