-- Items by id.   $1 queue   $2 partition   $3 ids
SELECT {columns} FROM leasehold_items AS item JOIN leasehold_contents AS content ON {content}
 WHERE {here} AND item.id = ANY ($3::text[])
