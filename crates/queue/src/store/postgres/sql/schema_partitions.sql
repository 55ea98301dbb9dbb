-- Who owns which partition. Epochs come from one sequence and never repeat, not even for a partition that was dropped and
-- made anew: a writer of the first one must not pass for an owner of the second.
DO $$ BEGIN
    CREATE SEQUENCE IF NOT EXISTS leasehold_partition_epochs;
    CREATE TABLE IF NOT EXISTS leasehold_partitions (
        queue text COLLATE "C" NOT NULL,
        partition bigint NOT NULL,
        epoch bigint NOT NULL,
        owner text NOT NULL,
        taken_at timestamptz NOT NULL,
        PRIMARY KEY (queue, partition));
END $$
