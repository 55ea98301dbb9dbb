-- Deletes what leased items hold, of all of them or none.   $1 $2 $3 as owned.sql   $4 ids, each once   $5 how many
DELETE FROM leasehold_contents
 WHERE queue = $1 AND partition = $2 AND id = ANY (ARRAY (SELECT item.content_id FROM leasehold_items AS item WHERE {held}))
   AND (SELECT count(*) FROM leasehold_items AS item WHERE {held}) = $5 AND {owned}
