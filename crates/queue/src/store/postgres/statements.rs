//! The statements of one partition, with the name of its table filled in.

use super::table::Table;

/// Of a table that goes by `item`; `item_row.rs` reads them in this order.
const COLUMNS: &str = "item.id, item.source_id, item.is_leased, item.lease_deadline, item.expire_deadline, \
     item.enqueue_at, item.created_at, item.attempts, item.max_attempts, item.reference, item.encoding, item.kind, \
     item.payload";

pub(super) const OWNS: &str = include_str!("sql/owns.sql");
pub(super) const TAKE_OVER: &str = include_str!("sql/take_over.sql");
pub(super) const DROP_OWNER: &str = include_str!("sql/drop_owner.sql");
pub(super) const SCHEMA_STATE: &str = include_str!("sql/schema_state.sql");
pub(super) const SCHEMA_LOCK: &str = include_str!("sql/schema_lock.sql");
pub(super) const SCHEMA_QUEUE: &str = include_str!("sql/schema_queue.sql");
pub(super) const SCHEMA_PARTITIONS: &str = include_str!("sql/schema_partitions.sql");

#[derive(Debug)]
pub(super) struct Statements {
    pub(super) touch: String,
    pub(super) opened: String,
    pub(super) deadlines: String,
    pub(super) due: String,
    pub(super) produce: String,
    pub(super) import: String,
    pub(super) next_ready: String,
    pub(super) lease: String,
    pub(super) complete: String,
    pub(super) change: String,
    pub(super) states: String,
    pub(super) requeue: String,
    pub(super) remove: String,
    pub(super) clear: String,
    pub(super) fetch: String,
    pub(super) list: String,
    pub(super) list_scheduled: String,
    pub(super) stats: String,
    pub(super) vacuum: String,
    pub(super) analyze: String,
    pub(super) schema_items: String,
    pub(super) schema_comment: String,
    pub(super) drop_items: String,
}

impl Statements {
    pub(super) fn new(table: &Table) -> Self {
        let fill = |template: &str| fill(template, table);
        Statements {
            touch: fill(include_str!("sql/touch.sql")),
            opened: fill(include_str!("sql/opened.sql")),
            deadlines: fill(include_str!("sql/deadlines.sql")),
            due: fill(include_str!("sql/due.sql")),
            produce: fill(include_str!("sql/produce.sql")),
            import: fill(include_str!("sql/import.sql")),
            next_ready: fill(include_str!("sql/next_ready.sql")),
            lease: fill(include_str!("sql/lease.sql")),
            complete: fill(include_str!("sql/complete.sql")),
            change: fill(include_str!("sql/change.sql")),
            states: fill(include_str!("sql/states.sql")),
            requeue: fill(include_str!("sql/requeue.sql")),
            remove: fill(include_str!("sql/remove.sql")),
            clear: fill(include_str!("sql/clear.sql")),
            fetch: fill(include_str!("sql/fetch.sql")),
            list: fill(include_str!("sql/list.sql")),
            list_scheduled: fill(include_str!("sql/list_scheduled.sql")),
            stats: fill(include_str!("sql/stats.sql")),
            vacuum: fill(include_str!("sql/vacuum.sql")),
            analyze: fill(include_str!("sql/analyze.sql")),
            schema_items: fill(include_str!("sql/schema_items.sql")),
            schema_comment: fill(include_str!("sql/schema_comment.sql")),
            drop_items: fill(include_str!("sql/drop_items.sql")),
        }
    }
}

/// The tests of an item's state are `CASE`s, which say the same as plain conditions but are opaque to the planner. Plain
/// ones it would answer from Querator's partial indexes, whose heads are full of dead entries; and without statistics it
/// would take them to hold for next to no row, and scan the table for that one.
fn fill(template: &str, table: &Table) -> String {
    let mut sql = template
        .replace("{owned}", include_str!("sql/owned.sql").trim_end())
        .replace("{is_ready}", include_str!("sql/is_ready.sql").trim_end())
        .replace("{is_held}", include_str!("sql/is_held.sql").trim_end())
        .replace("{is_unscheduled}", include_str!("sql/is_unscheduled.sql").trim_end())
        .replace("{items}", &table.items())
        .replace("{columns}", COLUMNS);
    for kind in ["src", "sch", "dln", "exp"] {
        sql = sql.replace(&format!("{{index_{kind}}}"), &table.index(kind));
    }
    sql
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_left_to_fill() {
        let partition = crate::store::PartitionId { queue: "orders".parse().expect("a name"), number: 3 };
        let statements = format!("{:?}", Statements::new(&Table::of(&partition)));
        for placeholder in ["{items}", "{owned}", "{is_", "{columns}", "{index"] {
            assert!(!statements.contains(placeholder), "{placeholder} in {statements}");
        }
    }
}
