-- Items by id, without their contents.   $1 ids   $2 how many
SELECT item.id, item.is_leased, item.lease_deadline, item.expire_deadline, item.enqueue_at, item.created_at, item.attempts
  FROM (SELECT * FROM unnest($1::text[]) AS wanted (id) LIMIT $2) AS wanted
  JOIN {items} AS item ON item.id = wanted.id
