-- Records of queues. A column of json is not to be had on every cluster; the functions are.
CREATE TABLE IF NOT EXISTS queues (
    name text PRIMARY KEY,
    namespace text NOT NULL DEFAULT '',
    lease_timeout_ns bigint NOT NULL,
    expire_timeout_ns bigint NOT NULL,
    dead_queue text NOT NULL DEFAULT '',
    max_attempts integer NOT NULL DEFAULT 0,
    reference text NOT NULL DEFAULT '',
    requested_partitions integer NOT NULL,
    partition_info text NOT NULL DEFAULT '[]',
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL)
