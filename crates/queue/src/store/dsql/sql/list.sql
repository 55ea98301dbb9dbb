-- Ready and leased items in order.   $1 queue   $2 partition   $3 first id   $4 how many
SELECT {columns}
  FROM (SELECT * FROM leasehold_items AS item
         WHERE {here} AND item.id >= $3 AND item.enqueue_at IS NULL ORDER BY item.id LIMIT $4) AS item
 CROSS JOIN LATERAL (SELECT * FROM leasehold_contents AS content WHERE {content} LIMIT 1) AS content
 ORDER BY item.id
