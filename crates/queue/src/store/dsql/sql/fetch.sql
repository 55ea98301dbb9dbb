-- Items by id.   $1 queue   $2 partition   $3 ids
SELECT {columns}
  FROM unnest($3::text[]) AS wanted (id)
 CROSS JOIN LATERAL (SELECT * FROM leasehold_items AS item WHERE {here} AND item.id = wanted.id LIMIT 1) AS item
 CROSS JOIN LATERAL (SELECT * FROM leasehold_contents AS content WHERE {content} LIMIT 1) AS content
