DELETE FROM leasehold_dead_queues WHERE queue = $1
