-- The ready ones of these as the next statement makes them.   $1 queue   $2 partition   $4 ids   $5 deadlines
SELECT item.id, item.source_id, true AS is_leased, pick.deadline AS lease_deadline, item.expire_deadline, item.enqueue_at,
       item.created_at, item.attempts + (item.attempts < 2147483647)::int AS attempts, item.max_attempts,
       content.reference, content.encoding, content.kind, content.payload
  FROM unnest($4::text[], $5::timestamptz[]) AS pick (id, deadline)
 CROSS JOIN LATERAL (SELECT * FROM leasehold_items AS item
                      WHERE {here} AND item.id = pick.id AND NOT item.is_leased AND item.enqueue_at IS NULL LIMIT 1) AS item
 CROSS JOIN LATERAL (SELECT * FROM leasehold_contents AS content WHERE {content} LIMIT 1) AS content
