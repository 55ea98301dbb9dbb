-- What items hold: written once, deleted once.
CREATE TABLE IF NOT EXISTS leasehold_contents (
    queue text NOT NULL,
    partition bigint NOT NULL,
    id text NOT NULL,
    reference text NOT NULL,
    encoding text NOT NULL,
    kind text NOT NULL,
    payload bytea NOT NULL,
    PRIMARY KEY (queue, partition, id))
