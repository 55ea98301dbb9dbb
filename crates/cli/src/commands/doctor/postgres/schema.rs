//! Tables, their columns, their indexes, and what the records of queues promise about them.

use std::collections::BTreeMap;

use leasehold_core::postgres::TableNames;
use leasehold_queue::store::PartitionId;
use leasehold_queue::store::postgres::items_table;
use leasehold_txn::Result;

use super::super::finding::Findings;
use super::expected::{EPOCHS, Expected, OWNERS, RECORDS, fences, items, locks, owners, records};
use super::{Bounds, Database, column};

/// Queues that are looked at one by one.
const QUEUES_MAX: i64 = 10_000;
/// Findings of one kind that are told one by one.
const TOLD_MAX: usize = 20;

/// A table as it is.
pub(in super::super) struct Table {
    pub(in super::super) is_there: bool,
    comment: Option<String>,
    columns: Vec<String>,
    indexes: Vec<String>,
}

pub(in super::super) type Tables = BTreeMap<String, Table>;

pub(super) async fn look(database: &Database, bounds: &Bounds, findings: &mut Findings) -> Result<()> {
    let lock_tables = TableNames::default();
    let (lock_table, fence_table) = (lock_tables.locks(), lock_tables.fences());
    let of_locks = [locks(lock_table), fences(fence_table)];
    let found =
        tables(database, &[lock_table, fence_table, RECORDS, OWNERS, EPOCHS].map(str::to_owned)).await?;
    match of_locks.iter().filter(|table| found[&table.name].is_there).count() {
        0 => findings.ok("locks", "no tables of locks yet; a server makes them, or 'leasehold schema apply'"),
        1 => findings.problem(
            "locks",
            format!("only one of {lock_table} and {fence_table} is there"),
            "if it is the counters that are lost, old fences can come again: restore them from a backup",
        ),
        _ => {
            compare("locks", &of_locks, &found, findings);
        }
    }
    let mut names = vec![lock_table.to_owned(), fence_table.to_owned()];
    if found[RECORDS].is_there {
        let of_queues = [records()];
        if compare("queues", &of_queues, &found, findings) {
            names.extend(look_at_queues(database, &found, findings).await?);
        }
    } else {
        findings.ok("queues", "no records of queues here yet; a server makes the table");
    }
    super::activity::look_at_dead_rows(database, &names, bounds, findings).await
}

async fn tables(database: &Database, names: &[String]) -> Result<Tables> {
    tables_by(database, include_str!("sql/tables.sql"), names).await
}

/// By the statement of another dialect.
pub(in super::super) async fn tables_by(database: &Database, sql: &str, names: &[String]) -> Result<Tables> {
    let rows = database.rows(sql, &[&names]).await?;
    rows.iter()
        .map(|row| {
            let table = Table {
                is_there: column(row, "is_there")?,
                comment: column(row, "comment")?,
                columns: column(row, "columns")?,
                indexes: column(row, "indexes")?,
            };
            Ok((column(row, "name")?, table))
        })
        .collect()
}

/// Whether all of them can be used; what is wrong with them is told.
pub(in super::super) fn compare(
    check: &'static str,
    expected: &[Expected],
    found: &Tables,
    findings: &mut Findings,
) -> bool {
    let mut usable = true;
    let mut told = 0;
    for table in expected {
        let (name, is) = (&table.name, &found[&table.name]);
        let missing: Vec<&str> = table
            .columns
            .iter()
            .copied()
            .filter(|wanted| !is.columns.iter().any(|column| column == wanted))
            .collect();
        if !missing.is_empty() {
            usable = false;
            told += 1;
            findings.problem(
                check,
                format!("table {name} is not ours: it lacks {}", missing.join(", ")),
                "somebody else's table has this name: give this server a database or a schema of its own",
            );
            continue;
        }
        for index in &table.indexes {
            // A unique index serves where a plain one is enough.
            let unique = format!("unique {}", index.shape);
            if is.indexes.iter().any(|there| there == index.shape || *there == unique) {
                continue;
            }
            told += 1;
            if told <= TOLD_MAX {
                let column = index.shape.trim_start_matches("unique ");
                let message = format!("table {name} has no valid index on {column}: {}", index.without);
                findings.problem(check, message, format!("{};", index.create));
            }
        }
    }
    match told {
        0 => findings.ok(check, format!("{} table(s) with their columns and indexes", expected.len())),
        told if told > TOLD_MAX => {
            findings.problem(check, format!("and {} more like that", told - TOLD_MAX), "mend these first");
        }
        _ => {}
    }
    usable
}

/// The names of the tables of items that are there.
async fn look_at_queues(database: &Database, found: &Tables, findings: &mut Findings) -> Result<Vec<String>> {
    let rows = database.rows(include_str!("sql/records.sql"), &[&QUEUES_MAX]).await?;
    // Whose each table of items should be.
    let mut wanted: BTreeMap<String, (String, i64)> = BTreeMap::new();
    for row in &rows {
        let name: String = column(row, "name")?;
        if column(row, "lacks_dead")? {
            let dead: String = column(row, "dead_queue")?;
            findings.warning(
                "queues",
                format!("queue '{name}' names the dead queue '{dead}', which does not exist: its dead wait"),
                format!("leasehold queue create {dead}, or name another with 'leasehold queue update'"),
            );
        }
        for number in column::<Vec<i64>>(row, "partitions")? {
            if let (Ok(queue), Ok(partition)) = (name.parse(), u32::try_from(number)) {
                let table = items_table(&PartitionId { queue, number: partition });
                wanted.insert(table, (name.clone(), number));
            }
        }
    }
    let names: Vec<String> = wanted.keys().cloned().collect();
    let tables = tables(database, &names).await?;
    let (there, missing): (Vec<&String>, Vec<&String>) =
        names.iter().partition(|name| tables[*name].is_there);
    for table in missing.iter().take(TOLD_MAX) {
        let (queue, partition) = &wanted[*table];
        findings.warning(
            "partitions",
            format!("partition {partition} of queue '{queue}' has no table {table} here"),
            "it may be in another store of the server's configuration; if not, it is made empty when the queue is used",
        );
    }
    for table in &there {
        let owner = format!("items of queue {}", wanted[*table].0);
        let comment = tables[*table].comment.as_deref().unwrap_or_default();
        if comment.starts_with("items of queue ") && comment != owner {
            findings.problem(
                "partitions",
                format!("table {table} holds the {comment}, not those of '{}'", wanted[*table].0),
                "two names have the same hash: recreate one of the two queues under another name",
            );
        }
    }
    let there: Vec<String> = there.into_iter().cloned().collect();
    let expected: Vec<Expected> = there.iter().cloned().map(items).collect();
    compare("partitions", &expected, &tables, findings);
    look_at_epochs(database, found, !there.is_empty(), findings).await?;
    Ok(there)
}

/// Epochs fence the writes of former owners: they must never come again.
async fn look_at_epochs(
    database: &Database,
    found: &Tables,
    has_partitions: bool,
    findings: &mut Findings,
) -> Result<()> {
    match (found[OWNERS].is_there, found[EPOCHS].is_there) {
        (false, false) if has_partitions => {
            findings
                .ok("epochs", "filled by Querator; a server adds what fences its writes when it opens them");
            return Ok(());
        }
        (false, false) => return Ok(()),
        (true, true) => {}
        _ => {
            findings.problem(
                "epochs",
                format!("only one of {OWNERS} and {EPOCHS} is there"),
                "stop all servers of this database, restore the other from a backup, and start them again",
            );
            return Ok(());
        }
    }
    if !compare("epochs", &[owners()], found, findings) {
        return Ok(());
    }
    let rows = database.rows(include_str!("sql/epochs.sql"), &[]).await?;
    let Some(row) = rows.first() else { return Ok(()) };
    let (epoch_max, last_given): (Option<i64>, i64) = (column(row, "epoch_max")?, column(row, "last_given")?);
    match epoch_max {
        Some(epoch) if epoch > last_given => findings.problem(
            "epochs",
            format!("{EPOCHS} stands at {last_given}, but epoch {epoch} was given: a former owner could pass for the new one"),
            format!("stop all servers of this database, then: SELECT setval('{EPOCHS}', {epoch});"),
        ),
        _ => findings.ok("epochs", format!("the last one given is {last_given}; none can come again")),
    }
    Ok(())
}
