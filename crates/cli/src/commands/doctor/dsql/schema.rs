//! Tables, their columns and indexes, and what should hold between their rows.

use leasehold_core::postgres::TableNames;
use leasehold_txn::Result;

use super::super::finding::Findings;
use super::super::postgres::expected::{Expected, RECORDS};
use super::super::postgres::schema::{Tables, compare, tables_by};
use super::super::postgres::{Database, column};
use super::expected::{access, locks, partitions, records};

/// Findings of one kind that are told one by one.
const TOLD_MAX: i64 = 20;

/// Tables that are made together.
struct Group {
    check: &'static str,
    expected: Vec<Expected>,
}

fn groups() -> [Group; 4] {
    [
        Group { check: "locks", expected: locks(TableNames::default().locks()) },
        Group { check: "queues", expected: records() },
        Group { check: "partitions", expected: partitions() },
        Group { check: "access", expected: access() },
    ]
}

fn names() -> Vec<String> {
    groups().into_iter().flat_map(|group| group.expected).map(|table| table.name).collect()
}

/// All of ours, there or not.
pub(super) async fn tables(database: &Database) -> Result<Tables> {
    tables_by(database, include_str!("sql/tables.sql"), &names()).await
}

pub(super) async fn look(database: &Database, found: &Tables, findings: &mut Findings) -> Result<()> {
    look_at_invalid_indexes(database, findings).await?;
    for Group { check, expected } in groups() {
        if !judge(check, &expected, found, findings) {
            continue;
        }
        match check {
            "queues" => look_at_dead_queues(database, findings).await?,
            "access" => look_at_dangling(database, findings).await?,
            _ => {}
        }
    }
    Ok(())
}

/// Whether all of the group are there and can be used.
fn judge(check: &'static str, expected: &[Expected], found: &Tables, findings: &mut Findings) -> bool {
    let missing: Vec<&str> = expected
        .iter()
        .filter(|table| !found[&table.name].is_there)
        .map(|table| table.name.as_str())
        .collect();
    match missing.len() {
        0 => compare(check, expected, found, findings),
        all if all == expected.len() => {
            findings.ok(check, format!("no {} yet; a server makes what it needs", missing.join(", ")));
            false
        }
        _ => {
            findings.problem(
                check,
                format!("{} missing, although others of {check} are there", missing.join(", ")),
                "if somebody dropped them, restore them from a backup; if a server did not come to an end with making them, \
                 the next one does",
            );
            false
        }
    }
}

async fn look_at_invalid_indexes(database: &Database, findings: &mut Findings) -> Result<()> {
    for row in database.rows(include_str!("sql/invalid_indexes.sql"), &[&names()]).await? {
        let (name, of_table): (String, String) = (column(&row, "name")?, column(&row, "of_table")?);
        findings.problem(
            "indexes",
            format!("index {name} of {of_table} is not valid: it is being built, or that failed"),
            format!(
                "see its job in sys.jobs; if that failed, start a server, which makes the index again, or create it after: DROP INDEX {name};"
            ),
        );
    }
    Ok(())
}

async fn look_at_dead_queues(database: &Database, findings: &mut Findings) -> Result<()> {
    for row in database.rows(include_str!("sql/lonely_queues.sql"), &[&TOLD_MAX]).await? {
        let (name, dead): (String, String) = (column(&row, "name")?, column(&row, "dead_queue")?);
        findings.warning(
            RECORDS,
            format!("queue '{name}' names the dead queue '{dead}', which does not exist: its dead wait"),
            format!("leasehold queue create {dead}, or name another with 'leasehold queue update'"),
        );
    }
    Ok(())
}

/// What servers keep whole, others may not.
async fn look_at_dangling(database: &Database, findings: &mut Findings) -> Result<()> {
    let rows = database.rows(include_str!("sql/dangling.sql"), &[]).await?;
    let Some(row) = rows.first() else { return Ok(()) };
    for (kind, of) in [("roles", "namespaces"), ("keys", "users"), ("bindings", "users or roles")] {
        match column::<i64>(row, kind)? {
            0 => {}
            count => findings.problem(
                "access",
                format!("{count} {kind} are of {of} that are not there: somebody wrote past the servers"),
                format!("delete these {kind}: whoever gets the id of what is missing gets what they allow"),
            ),
        }
    }
    Ok(())
}
