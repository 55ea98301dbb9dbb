CREATE INDEX ASYNC IF NOT EXISTS leasehold_items_lease_deadline ON leasehold_items (queue, partition, lease_deadline)
