//! What the tables should be like. The test against a simulated cluster holds this to what a server makes.

use leasehold_core::postgres::TableNames;

use super::super::postgres::expected::{
    Expected, Index, LOCK_COLUMNS, OWNER_COLUMNS, OWNERS, RECORDS, primary_key,
};
use super::super::postgres::schema::Tables;

const ITEMS: &str = "leasehold_items";

/// A `SELECT … FOR KEY SHARE` that finds nothing, at a table that is there.
pub(super) fn probe(tables: &Tables) -> Option<String> {
    let locks = TableNames::default();
    let probes = [
        (locks.locks(), "key = ''"),
        (OWNERS, "queue = '' AND partition = -1"),
        (RECORDS, "name = ''"),
        ("leasehold_namespaces", "name = ''"),
    ];
    let there = |name: &str| tables.get(name).is_some_and(|table| table.is_there);
    let (table, nothing) = probes.into_iter().find(|(table, _)| there(table))?;
    Some(format!("SELECT 1 FROM {table} WHERE {nothing} FOR KEY SHARE"))
}

/// An index, made in the background as DSQL wants it.
fn index(table: &str, name: &str, shape: &'static str, without: &'static str) -> Index {
    let (unique, columns) = match shape.strip_prefix("unique ") {
        Some(columns) => ("UNIQUE ", columns),
        None => ("", shape),
    };
    let create = format!("CREATE {unique}INDEX ASYNC IF NOT EXISTS {name} ON {table} ({columns})");
    Index { shape, without, create }
}

fn table(name: &str, columns: &'static [&'static str], indexes: Vec<Index>) -> Expected {
    Expected { name: name.to_owned(), columns, indexes }
}

/// One row per key, which holds the lock and its fence.
pub(super) fn locks(name: &str) -> Vec<Expected> {
    let lock_id = index(
        name,
        &format!("idx_{name}_lock_id"),
        "unique lock_id",
        "extending and releasing read the whole table",
    );
    vec![table(name, &LOCK_COLUMNS, vec![primary_key("unique key", name, "key"), lock_id])]
}

pub(super) fn records() -> Vec<Expected> {
    let columns = &[
        "name text",
        "namespace text",
        "lease_timeout_ns bigint",
        "expire_timeout_ns bigint",
        "dead_queue text",
        "max_attempts integer",
        "reference text",
        "requested_partitions integer",
        "partition_info text",
        "created_at timestamp with time zone",
        "updated_at timestamp with time zone",
    ];
    vec![table(RECORDS, columns, vec![primary_key("unique name", RECORDS, "name")])]
}

/// The line of every partition, what its items hold, and who owns it.
pub(super) fn partitions() -> Vec<Expected> {
    let items = &[
        "queue text",
        "partition bigint",
        "id text",
        "content_id text",
        "source_id text",
        "is_leased boolean",
        "is_gone boolean",
        "lease_deadline timestamp with time zone",
        "expire_deadline timestamp with time zone",
        "enqueue_at timestamp with time zone",
        "created_at timestamp with time zone",
        "attempts integer",
        "max_attempts integer",
    ];
    let contents = &[
        "queue text",
        "partition bigint",
        "id text",
        "reference text",
        "encoding text",
        "kind text",
        "payload bytea",
    ];
    let by_item = |table| primary_key("unique queue, partition, id", table, "queue, partition, id");
    let reads_all = "finding what is due reads the whole partition";
    vec![
        table(
            OWNERS,
            &OWNER_COLUMNS,
            vec![primary_key("unique queue, partition", OWNERS, "queue, partition")],
        ),
        table(
            ITEMS,
            items,
            vec![
                by_item(ITEMS),
                index(
                    ITEMS,
                    "leasehold_items_source_id",
                    "unique queue, partition, source_id",
                    "what is imported or moved to the dead queue could be there twice",
                ),
                index(ITEMS, "leasehold_items_lease_deadline", "queue, partition, lease_deadline", reads_all),
                index(
                    ITEMS,
                    "leasehold_items_expire_deadline",
                    "queue, partition, expire_deadline",
                    reads_all,
                ),
                index(ITEMS, "leasehold_items_enqueue_at", "queue, partition, enqueue_at", reads_all),
            ],
        ),
        table("leasehold_contents", contents, vec![by_item("leasehold_contents")]),
    ]
}

/// Who may do what.
pub(super) fn access() -> Vec<Expected> {
    let twice = "two could have the same";
    let reads_all = "what is somebody's is looked for in the whole table";
    let (users, keys) = ("leasehold_users", "leasehold_api_keys");
    let (roles, bindings) = ("leasehold_roles", "leasehold_role_bindings");
    let by_id = |table| primary_key("unique id", table, "id");
    vec![
        table(
            "leasehold_namespaces",
            &["name text", "description text", "api_key_tag text", "created_at timestamp with time zone"],
            vec![primary_key("unique name", "leasehold_namespaces", "name")],
        ),
        table(
            users,
            &[
                "id text",
                "username text",
                "external_id text",
                "email text",
                "created_at timestamp with time zone",
                "updated_at timestamp with time zone",
            ],
            vec![by_id(users), index(users, "leasehold_users_username", "unique username", twice)],
        ),
        table(
            keys,
            &[
                "id text",
                "hash text",
                "user_id text",
                "namespace_scope text",
                "name text",
                "prefix text",
                "expires_at timestamp with time zone",
                "last_used_at timestamp with time zone",
                "created_at timestamp with time zone",
            ],
            vec![
                by_id(keys),
                index(keys, "leasehold_api_keys_hash", "unique hash", twice),
                index(keys, "leasehold_api_keys_user", "user_id, id", reads_all),
            ],
        ),
        table(
            roles,
            &[
                "id text",
                "namespace text",
                "name text",
                "permissions text",
                "created_at timestamp with time zone",
            ],
            vec![by_id(roles), index(roles, "leasehold_roles_name", "unique namespace, name", twice)],
        ),
        table(
            bindings,
            &[
                "id text",
                "namespace text",
                "user_id text",
                "role_id text",
                "created_at timestamp with time zone",
            ],
            vec![
                by_id(bindings),
                index(bindings, "leasehold_role_bindings_bound", "unique user_id, namespace, role_id", twice),
                index(bindings, "leasehold_role_bindings_namespace", "namespace, id", reads_all),
                index(bindings, "leasehold_role_bindings_role", "role_id", reads_all),
            ],
        ),
        table(
            "leasehold_access_marks",
            &["name text", "made_at timestamp with time zone"],
            vec![primary_key("unique name", "leasehold_access_marks", "name")],
        ),
        table(
            "leasehold_dead_queues",
            &[
                "queue text",
                "queue_created_at timestamp with time zone",
                "dead_queue text",
                "dead_queue_created_at timestamp with time zone",
            ],
            vec![primary_key("unique queue", "leasehold_dead_queues", "queue")],
        ),
        table(
            "leasehold_access_versions",
            &["kind text", "version bigint"],
            vec![primary_key("unique kind", "leasehold_access_versions", "kind")],
        ),
    ]
}
