SELECT item.id FROM leasehold_items AS item
            WHERE {here} AND item.id > $4
              AND CASE WHEN item.enqueue_at IS NOT NULL THEN $7 WHEN item.is_leased THEN $6 ELSE $5 END
            ORDER BY item.id LIMIT $8
