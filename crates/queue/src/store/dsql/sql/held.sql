item.queue = $1 AND item.partition = $2 AND item.id = ANY ($4::text[]) AND item.is_leased AND item.enqueue_at IS NULL
