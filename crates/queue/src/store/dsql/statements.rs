//! The statements. All partitions share the tables, so they are the same for all.
//!
//! A write is a script behind a fence. Statements that change several tables do not exist here, so a script says first what
//! it finds, or last what it did; in between all see one snapshot and what the script itself changed.
//!
//! Rows are looked up by arrays of ids and one by one (`LATERAL … LIMIT 1`) rather than joined: a planner that has no
//! statistics takes a whole partition for one row, and then joins two of them in a loop.

use super::super::postgres::script::Script;
use super::super::postgres::statements::{Statements, THERE, take_over};

/// `item_row.rs` of `postgres` reads them in this order.
const COLUMNS: &str = "item.id, item.source_id, item.is_leased, item.lease_deadline, item.expire_deadline, \
     item.enqueue_at, item.created_at, item.attempts, item.max_attempts, content.reference, content.encoding, \
     content.kind, content.payload";

/// The answer is the row of the fence.
const FENCE: usize = 0;

pub(super) const DROP_OWNER: &str = include_str!("sql/drop_owner.sql");
pub(super) const DROP_LEFTOVER: &str = include_str!("sql/drop_leftover.sql");
pub(super) const SCHEMA_STATE: &str = include_str!("sql/schema_state.sql");
/// Each in a transaction of its own.
pub(super) const SCHEMA_TABLES: [&str; 3] = [
    include_str!("sql/schema_partitions.sql"),
    include_str!("sql/schema_items.sql"),
    include_str!("sql/schema_contents.sql"),
];
/// Each in a transaction of its own; each answers with the job that builds it.
pub(super) const SCHEMA_INDEXES: [&str; 3] = [
    include_str!("sql/schema_lease_deadline.sql"),
    include_str!("sql/schema_expire_deadline.sql"),
    include_str!("sql/schema_enqueue_at.sql"),
];

pub(super) fn all() -> Statements {
    Statements {
        former: include_str!("sql/fence.sql").to_owned(),
        take_over: take_over(include_str!("sql/take_over.sql"), "true"),
        take_over_of: take_over(include_str!("sql/take_over.sql"), THERE),
        record: None,
        // Nothing is locked, so there is no order to keep.
        touch: None,
        opened: read(include_str!("sql/opened.sql")),
        deadlines: read(include_str!("sql/deadlines.sql")),
        due: read(include_str!("sql/due.sql")),
        produce: write(
            &[include_str!("sql/produce_items.sql"), include_str!("sql/produce_contents.sql")],
            FENCE,
        ),
        import: write(
            &[
                include_str!("sql/import_items.sql"),
                include_str!("sql/import_contents.sql"),
                include_str!("sql/imported.sql"),
            ],
            3,
        ),
        next_ready: read(include_str!("sql/next_ready.sql")),
        lease: write(&[include_str!("sql/lease_rows.sql"), include_str!("sql/lease_items.sql")], 1),
        complete: write(
            &[
                include_str!("sql/held_count.sql"),
                include_str!("sql/complete_contents.sql"),
                include_str!("sql/complete_items.sql"),
            ],
            1,
        ),
        change: write(
            &[
                include_str!("sql/change_items.sql"),
                include_str!("sql/change_gone_contents.sql"),
                include_str!("sql/change_gone.sql"),
            ],
            1,
        ),
        requeue: write(&[include_str!("sql/requeue.sql")], 1),
        remove: write(
            &[
                include_str!("sql/remove_count.sql"),
                include_str!("sql/remove_contents.sql"),
                include_str!("sql/remove_items.sql"),
            ],
            1,
        ),
        clear: write(
            &[
                include_str!("sql/clear_count.sql"),
                include_str!("sql/clear_contents.sql"),
                include_str!("sql/clear_items.sql"),
            ],
            1,
        ),
        headers: read(include_str!("sql/headers.sql")),
        fetch: read(include_str!("sql/fetch.sql")),
        list: read(include_str!("sql/list.sql")),
        list_scheduled: read(include_str!("sql/list_scheduled.sql")),
        stats: read(include_str!("sql/stats.sql")),
        upkeep: None,
    }
}

fn read(template: &str) -> Script {
    Script::one(fill(template))
}

fn write(templates: &[&str], answer: usize) -> Script {
    let writes = templates.iter().map(|template| fill(template));
    Script::fenced(include_str!("sql/fence.sql").to_owned(), writes, answer)
}

fn fill(template: &str) -> String {
    template
        .replace("{next_to_clear}", include_str!("sql/next_to_clear.sql").trim_end())
        .replace("{owned}", include_str!("sql/owned.sql").trim_end())
        .replace("{here}", include_str!("sql/here.sql").trim_end())
        .replace("{held}", include_str!("sql/held.sql").trim_end())
        .replace("{bytes}", include_str!("sql/bytes.sql").trim_end())
        .replace("{content}", include_str!("sql/content.sql").trim_end())
        .replace("{columns}", COLUMNS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_left_to_fill() {
        let statements = format!("{:?}", all());
        for placeholder in
            ["{there}", "{next", "{owned}", "{here}", "{held}", "{bytes}", "{content}", "{columns}"]
        {
            assert!(!statements.contains(placeholder), "{placeholder} in {statements}");
        }
    }
}
