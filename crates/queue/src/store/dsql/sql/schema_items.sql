-- The line of every partition. What items hold is in another table, under an id that stays when an item moves to the
-- tail, so that a lease or a retry writes a small row however large the payload is.
CREATE TABLE IF NOT EXISTS leasehold_items (
    queue text NOT NULL,
    partition bigint NOT NULL,
    id text NOT NULL,
    content_id text NOT NULL,
    source_id text,
    is_leased boolean NOT NULL DEFAULT false,
    is_gone boolean NOT NULL DEFAULT false,
    lease_deadline timestamptz,
    expire_deadline timestamptz NOT NULL,
    enqueue_at timestamptz,
    created_at timestamptz NOT NULL,
    attempts integer NOT NULL DEFAULT 0,
    max_attempts integer NOT NULL DEFAULT 0,
    PRIMARY KEY (queue, partition, id),
    UNIQUE (queue, partition, source_id))
