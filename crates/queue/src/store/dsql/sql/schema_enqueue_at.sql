CREATE INDEX ASYNC IF NOT EXISTS leasehold_items_enqueue_at ON leasehold_items (queue, partition, enqueue_at)
