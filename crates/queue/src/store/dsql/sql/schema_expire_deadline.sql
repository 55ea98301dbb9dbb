CREATE INDEX ASYNC IF NOT EXISTS leasehold_items_expire_deadline ON leasehold_items (queue, partition, expire_deadline)
