-- What the marked items hold.   $1 queue   $2 partition   $4 ids
DELETE FROM leasehold_contents
 WHERE queue = $1 AND partition = $2
   AND id = ANY (ARRAY (SELECT item.content_id FROM leasehold_items AS item
                         WHERE {here} AND item.id = ANY ($4::text[]) AND item.is_gone))
