SELECT item.id FROM (SELECT item.id, item.enqueue_at, item.is_leased FROM leasehold_items AS item
                                WHERE {here} AND item.id > $4 ORDER BY item.id LIMIT $8) AS item
            WHERE CASE WHEN item.enqueue_at IS NOT NULL THEN $7 WHEN item.is_leased THEN $6 ELSE $5 END
