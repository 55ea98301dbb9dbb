-- Which queue may send its dead items to a queue of another namespace; each as it was when that was permitted.
CREATE TABLE IF NOT EXISTS leasehold_dead_queues (
    queue text CONSTRAINT leasehold_dead_queues_pkey PRIMARY KEY,
    queue_created_at timestamptz NOT NULL,
    dead_queue text NOT NULL,
    dead_queue_created_at timestamptz NOT NULL
)
