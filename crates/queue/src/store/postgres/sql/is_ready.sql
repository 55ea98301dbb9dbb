CASE WHEN item.is_leased THEN false ELSE item.enqueue_at IS NULL END
