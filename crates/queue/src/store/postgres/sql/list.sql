-- Ready and leased items in order, up to the one that reaches the byte limit.   $1 first id   $2 how many   $3 bytes
SELECT {columns}
  FROM (SELECT *, (sum({bytes}) OVER (ORDER BY item.id ROWS UNBOUNDED PRECEDING))::bigint - ({bytes}) AS bytes_before
          FROM (SELECT * FROM {items} AS item WHERE item.id >= $1 AND item.enqueue_at IS NULL ORDER BY item.id LIMIT $2)
               AS item) AS item
 WHERE item.bytes_before < $3 ORDER BY item.id
