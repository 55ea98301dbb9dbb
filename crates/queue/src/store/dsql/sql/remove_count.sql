-- What is to be deleted.   $1 queue   $2 partition   $4 ids
SELECT 1::bigint AS owned,
       count(*) FILTER (WHERE enqueue_at IS NULL AND NOT is_leased) AS ready,
       count(*) FILTER (WHERE enqueue_at IS NULL AND is_leased) AS leased,
       count(*) FILTER (WHERE enqueue_at IS NOT NULL) AS scheduled
  FROM leasehold_items AS item
 WHERE {here} AND item.id = ANY ($4::text[])
