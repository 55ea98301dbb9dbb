CASE WHEN item.enqueue_at IS NULL THEN true ELSE false END
