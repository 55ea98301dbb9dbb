-- Querator's records of queues. The order of names is that of their bytes, whatever the database's locale.
CREATE TABLE IF NOT EXISTS queues (
    name TEXT COLLATE "C" PRIMARY KEY,
    namespace TEXT NOT NULL DEFAULT '',
    lease_timeout_ns BIGINT NOT NULL,
    expire_timeout_ns BIGINT NOT NULL,
    dead_queue TEXT NOT NULL DEFAULT '',
    max_attempts INTEGER NOT NULL DEFAULT 0,
    reference TEXT NOT NULL DEFAULT '',
    requested_partitions INTEGER NOT NULL,
    partition_info JSONB NOT NULL DEFAULT '[]',
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL)
