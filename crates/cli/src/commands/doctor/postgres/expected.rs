//! What the tables should be like. The test against a real database holds this to what a server makes.

/// A table, what it must have, and how to mend what it lacks.
pub(in super::super) struct Expected {
    pub(in super::super) name: String,
    pub(in super::super) columns: &'static [&'static str],
    pub(in super::super) indexes: Vec<Index>,
}

/// An index, told by its first column; on DSQL by all.
pub(in super::super) struct Index {
    /// As the catalogue statement shows it: `unique lock_id`, `expires_at_ms`.
    pub(in super::super) shape: &'static str,
    /// What goes wrong without it.
    pub(in super::super) without: &'static str,
    pub(in super::super) create: String,
}

pub(in super::super) const RECORDS: &str = "queues";
pub(in super::super) const OWNERS: &str = "leasehold_partitions";
pub(super) const EPOCHS: &str = "leasehold_partition_epochs";

const RECORD_COLUMNS: [&str; 11] = [
    "name text",
    "namespace text",
    "lease_timeout_ns bigint",
    "expire_timeout_ns bigint",
    "dead_queue text",
    "max_attempts integer",
    "reference text",
    "requested_partitions integer",
    "partition_info jsonb",
    "created_at timestamp with time zone",
    "updated_at timestamp with time zone",
];

pub(in super::super) const OWNER_COLUMNS: [&str; 5] =
    ["queue text", "partition bigint", "epoch bigint", "owner text", "taken_at timestamp with time zone"];

const ITEM_COLUMNS: [&str; 13] = [
    "id text",
    "source_id text",
    "is_leased boolean",
    "lease_deadline timestamp with time zone",
    "expire_deadline timestamp with time zone",
    "enqueue_at timestamp with time zone",
    "created_at timestamp with time zone",
    "attempts integer",
    "max_attempts integer",
    "reference text",
    "encoding text",
    "kind text",
    "payload bytea",
];

pub(in super::super) const LOCK_COLUMNS: [&str; 6] = [
    "key text",
    "lock_id text",
    "expires_at_ms bigint",
    "acquired_at_ms bigint",
    "fence text",
    "user_key text",
];

const FENCE_COLUMNS: [&str; 2] = ["fence_key text", "fence bigint"];

pub(in super::super) fn primary_key(shape: &'static str, table: &str, columns: &str) -> Index {
    let without = "the same thing could be there twice";
    Index { shape, without, create: format!("ALTER TABLE \"{table}\" ADD PRIMARY KEY ({columns})") }
}

pub(super) fn records() -> Expected {
    Expected {
        name: RECORDS.to_owned(),
        columns: &RECORD_COLUMNS,
        indexes: vec![primary_key("unique name", RECORDS, "name")],
    }
}

pub(super) fn owners() -> Expected {
    Expected {
        name: OWNERS.to_owned(),
        columns: &OWNER_COLUMNS,
        indexes: vec![primary_key("unique queue", OWNERS, "queue, partition")],
    }
}

/// The table of a partition: `items_<place>`, with indexes `idx_<place>_<kind>`.
pub(super) fn items(name: String) -> Expected {
    let place = name.strip_prefix("items_").unwrap_or(&name);
    let index = |shape, kind: &str, unique: &str, on: &str, without| Index {
        shape,
        without,
        create: format!("CREATE {unique}INDEX CONCURRENTLY \"idx_{place}_{kind}\" ON \"{name}\" {on}"),
    };
    let indexes = vec![
        primary_key("unique id", &name, "id"),
        index(
            "unique source_id",
            "src",
            "UNIQUE ",
            "(source_id) WHERE source_id IS NOT NULL",
            "imports and moves to the dead queue fail",
        ),
        index(
            "enqueue_at",
            "sch",
            "",
            "(enqueue_at) WHERE enqueue_at IS NOT NULL",
            "finding what is due reads the whole table",
        ),
        index(
            "lease_deadline",
            "dln",
            "",
            "(lease_deadline) WHERE is_leased",
            "finding leases that ended reads the whole table",
        ),
        index(
            "expire_deadline",
            "exp",
            "",
            "(expire_deadline)",
            "finding what expired reads the whole table",
        ),
    ];
    Expected { name, columns: &ITEM_COLUMNS, indexes }
}

pub(super) fn locks(name: &str) -> Expected {
    let indexes = vec![
        primary_key("unique key", name, "key"),
        Index {
            shape: "unique lock_id",
            without: "extending and releasing read the whole table",
            create: format!(
                "CREATE UNIQUE INDEX CONCURRENTLY \"idx_{name}_lock_id\" ON \"{name}\" (lock_id)"
            ),
        },
        Index {
            shape: "expires_at_ms",
            without: "cleaning up reads the whole table",
            create: format!("CREATE INDEX CONCURRENTLY \"idx_{name}_expires\" ON \"{name}\" (expires_at_ms)"),
        },
    ];
    Expected { name: name.to_owned(), columns: &LOCK_COLUMNS, indexes }
}

pub(super) fn fences(name: &str) -> Expected {
    Expected {
        name: name.to_owned(),
        columns: &FENCE_COLUMNS,
        indexes: vec![primary_key("unique fence_key", name, "fence_key")],
    }
}
