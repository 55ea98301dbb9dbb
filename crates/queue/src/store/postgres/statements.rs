//! The statements of one partition, with the name of its table filled in.

use super::script::Script;
use super::table::Table;

/// Of a table that goes by `item`; `item_row.rs` reads them in this order.
const COLUMNS: &str = "item.id, item.source_id, item.is_leased, item.lease_deadline, item.expire_deadline, \
     item.enqueue_at, item.created_at, item.attempts, item.max_attempts, item.reference, item.encoding, item.kind, \
     item.payload";

pub(in crate::store) const THERE: &str = include_str!("sql/there.sql");
pub(super) const RECORD: &str = include_str!("sql/record.sql");
pub(super) const FORMER: &str = include_str!("sql/former.sql");
pub(super) const LAST_OWNER: &str = include_str!("sql/last_owner.sql");
pub(super) const OWNS: &str = include_str!("sql/owns.sql");
pub(super) const DROP_OWNER: &str = include_str!("sql/drop_owner.sql");
pub(super) const SCHEMA_STATE: &str = include_str!("sql/schema_state.sql");
pub(super) const SCHEMA_LOCK: &str = include_str!("sql/schema_lock.sql");
pub(super) const SCHEMA_QUEUE: &str = include_str!("sql/schema_queue.sql");
pub(super) const SCHEMA_PARTITIONS: &str = include_str!("sql/schema_partitions.sql");

/// What every dialect has.
#[derive(Debug)]
pub(in crate::store) struct Statements {
    /// The epoch of the owner that is about to be replaced; no row if there is none.   $1 queue   $2 partition
    pub(in crate::store) former: String,
    /// Makes the caller the owner; one row with the new epoch.   $1 queue   $2 partition   $3 owner
    pub(in crate::store) take_over: String,
    /// The same while the record of the queue is there; else no row.   $4 when the queue was created
    pub(in crate::store) take_over_of: String,
    /// Goes before it where locks are taken.   $1 queue   $2 when it was created
    pub(in crate::store) record: Option<&'static str>,
    /// Goes before it where locks are taken in an order.
    pub(in crate::store) touch: Option<String>,
    pub(in crate::store) opened: Script,
    pub(in crate::store) deadlines: Script,
    pub(in crate::store) due: Script,
    pub(in crate::store) produce: Script,
    pub(in crate::store) import: Script,
    pub(in crate::store) next_ready: Script,
    pub(in crate::store) lease: Script,
    pub(in crate::store) complete: Script,
    pub(in crate::store) change: Script,
    pub(in crate::store) requeue: Script,
    pub(in crate::store) remove: Script,
    pub(in crate::store) clear: Script,
    pub(in crate::store) headers: Script,
    pub(in crate::store) fetch: Script,
    pub(in crate::store) list: Script,
    pub(in crate::store) list_scheduled: Script,
    pub(in crate::store) stats: Script,
    /// Where tables need it.
    pub(in crate::store) upkeep: Option<UpkeepStatements>,
}

#[derive(Debug)]
pub(in crate::store) struct UpkeepStatements {
    pub(super) vacuum: String,
    pub(super) analyze: String,
}

impl Statements {
    pub(super) fn new(table: &Table) -> Self {
        let fill = |template: &str| fill(template, table);
        let one = |template: &str| Script::one(fill(template));
        Statements {
            former: FORMER.to_owned(),
            take_over: take_over(include_str!("sql/take_over.sql"), "true"),
            take_over_of: take_over(include_str!("sql/take_over.sql"), THERE),
            record: Some(RECORD),
            touch: Some(fill(include_str!("sql/touch.sql"))),
            opened: one(include_str!("sql/opened.sql")),
            deadlines: one(include_str!("sql/deadlines.sql")),
            due: one(include_str!("sql/due.sql")),
            produce: one(include_str!("sql/produce.sql")),
            import: one(include_str!("sql/import.sql")),
            next_ready: one(include_str!("sql/next_ready.sql")),
            lease: one(include_str!("sql/lease.sql")),
            complete: one(include_str!("sql/complete.sql")),
            change: one(include_str!("sql/change.sql")),
            requeue: one(include_str!("sql/requeue.sql")),
            remove: one(include_str!("sql/remove.sql")),
            clear: one(include_str!("sql/clear.sql")),
            headers: one(include_str!("sql/headers.sql")),
            fetch: one(include_str!("sql/fetch.sql")),
            list: one(include_str!("sql/list.sql")),
            list_scheduled: one(include_str!("sql/list_scheduled.sql")),
            stats: one(include_str!("sql/stats.sql")),
            upkeep: Some(UpkeepStatements {
                vacuum: fill(include_str!("sql/vacuum.sql")),
                analyze: fill(include_str!("sql/analyze.sql")),
            }),
        }
    }
}

/// A take-over under a condition.
pub(in crate::store) fn take_over(template: &str, condition: &str) -> String {
    template.replace("{there}", condition.trim_end())
}

/// What makes and drops the table of one partition.
#[derive(Debug)]
pub(super) struct TableStatements {
    pub(super) schema_items: String,
    pub(super) schema_comment: String,
    pub(super) lock_items: String,
    pub(super) drop_items: String,
}

impl TableStatements {
    pub(super) fn new(table: &Table) -> Self {
        TableStatements {
            schema_items: fill(include_str!("sql/schema_items.sql"), table),
            schema_comment: fill(include_str!("sql/schema_comment.sql"), table),
            lock_items: fill(include_str!("sql/lock_items.sql"), table),
            drop_items: fill(include_str!("sql/drop_items.sql"), table),
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
        .replace("{bytes}", include_str!("sql/bytes.sql").trim_end())
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
        let table = Table::of(&partition);
        let statements = format!("{:?} {:?}", Statements::new(&table), TableStatements::new(&table));
        for placeholder in ["{there}", "{items}", "{owned}", "{is_", "{bytes}", "{columns}", "{index"] {
            assert!(!statements.contains(placeholder), "{placeholder} in {statements}");
        }
    }
}
