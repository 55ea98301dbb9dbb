-- Items by id, without their contents.   $1 queue   $2 partition   $3 ids
SELECT item.id, item.is_leased, item.lease_deadline, item.expire_deadline, item.enqueue_at, item.created_at, item.attempts
  FROM leasehold_items AS item WHERE {here} AND item.id = ANY ($3::text[])
