CASE WHEN item.is_leased THEN item.enqueue_at IS NULL ELSE false END
