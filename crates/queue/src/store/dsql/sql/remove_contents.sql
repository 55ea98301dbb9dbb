-- Deletes what items hold.   $1 $2 $3 as owned.sql   $4 ids
DELETE FROM leasehold_contents
 WHERE queue = $1 AND partition = $2 AND {owned}
   AND id = ANY (ARRAY (SELECT item.content_id FROM leasehold_items AS item WHERE {here} AND item.id = ANY ($4::text[])))
