-- Querator's table of items and its indexes, save the one it leases by ("lse"): we lease by the primary key. The table
-- keeps its pages when a vacuum empties it: a plan made for a table of none would scan the whole of it later.
DO $$ BEGIN
    CREATE TABLE IF NOT EXISTS {items} (
        id TEXT COLLATE "C" PRIMARY KEY,
        source_id TEXT,
        is_leased BOOLEAN NOT NULL DEFAULT false,
        lease_deadline TIMESTAMPTZ,
        expire_deadline TIMESTAMPTZ NOT NULL,
        enqueue_at TIMESTAMPTZ,
        created_at TIMESTAMPTZ NOT NULL,
        attempts INTEGER NOT NULL DEFAULT 0,
        max_attempts INTEGER NOT NULL DEFAULT 0,
        reference TEXT NOT NULL DEFAULT '',
        encoding TEXT NOT NULL DEFAULT '',
        kind TEXT NOT NULL DEFAULT '',
        payload BYTEA) WITH (vacuum_truncate = false);
    CREATE UNIQUE INDEX IF NOT EXISTS {index_src} ON {items} (source_id) WHERE source_id IS NOT NULL;
    CREATE INDEX IF NOT EXISTS {index_sch} ON {items} (enqueue_at) WHERE enqueue_at IS NOT NULL;
    CREATE INDEX IF NOT EXISTS {index_dln} ON {items} (lease_deadline) WHERE is_leased;
    CREATE INDEX IF NOT EXISTS {index_exp} ON {items} (expire_deadline);
END $$
