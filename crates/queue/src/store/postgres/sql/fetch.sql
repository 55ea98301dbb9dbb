-- Items by id.   $1 ids   $2 how many
SELECT {columns}
  FROM (SELECT * FROM unnest($1::text[]) AS wanted (id) LIMIT $2) AS wanted
  JOIN {items} AS item ON item.id = wanted.id
