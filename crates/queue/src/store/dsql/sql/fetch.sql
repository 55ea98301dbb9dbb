-- Items by id.   $1 queue   $2 partition   $3 ids   $4 how many
SELECT {columns}
  FROM (SELECT * FROM unnest($3::text[]) AS wanted (id) LIMIT $4) AS wanted
  JOIN leasehold_items AS item ON {here} AND item.id = wanted.id
  JOIN leasehold_contents AS content ON {content}
