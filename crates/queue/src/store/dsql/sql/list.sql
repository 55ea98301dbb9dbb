-- Ready and leased items in order, up to the one that reaches the byte limit.
-- $1 queue   $2 partition   $3 first id   $4 how many   $5 bytes
SELECT {columns}
  FROM (SELECT sized.*, (sum(sized.bytes) OVER (ORDER BY sized.id ROWS UNBOUNDED PRECEDING))::bigint - sized.bytes AS bytes_before
          FROM (SELECT item.*, {bytes} AS bytes FROM leasehold_items AS item
                 WHERE {here} AND item.id >= $3 AND item.enqueue_at IS NULL ORDER BY item.id LIMIT $4) AS sized) AS item
 CROSS JOIN LATERAL (SELECT * FROM leasehold_contents AS content WHERE {content} LIMIT 1) AS content
 WHERE item.bytes_before < $5 ORDER BY item.id
