-- Who owns which partition. Rows stay for ever: an epoch that came back would let a writer pass for an owner.
CREATE TABLE IF NOT EXISTS leasehold_partitions (
    queue text NOT NULL,
    partition bigint NOT NULL,
    epoch bigint NOT NULL,
    owner text NOT NULL,
    taken_at timestamptz NOT NULL,
    PRIMARY KEY (queue, partition))
