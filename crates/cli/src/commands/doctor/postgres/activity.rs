//! What goes on in the database: who holds back vacuum, what is left behind, who else is connected.

use leasehold_txn::Result;

use super::super::finding::Findings;
use super::{Bounds, Database, column};

pub(super) async fn look(database: &Database, bounds: &Bounds, findings: &mut Findings) -> Result<()> {
    look_at_transactions(database, bounds, findings).await?;
    look_at_connections(database, bounds, findings).await
}

async fn look_at_transactions(database: &Database, bounds: &Bounds, findings: &mut Findings) -> Result<()> {
    let seconds = bounds.transaction_age_max.as_secs_f64();
    let rows = database.rows(include_str!("sql/transactions.sql"), &[&seconds]).await?;
    for row in &rows {
        let (kind, name, who): (String, String, String) =
            (column(row, "kind")?, column(row, "name")?, column(row, "who")?);
        let age = column::<f64>(row, "seconds")?;
        let (what, next) = match kind.as_str() {
            "session" => (
                format!(
                    "session {name} ({who}) has had a transaction open for {age:.0} s: no row that died since can go"
                ),
                format!("end it where it began, or: SELECT pg_terminate_backend({name});"),
            ),
            "prepared" => (
                format!(
                    "prepared transaction '{name}' of {who} waits for {age:.0} s: no row that died since can go"
                ),
                format!("COMMIT PREPARED or ROLLBACK PREPARED '{}';", name.replace('\'', "''")),
            ),
            _ => (
                format!("replication slot {name} is not read, and its {who}: dead rows and WAL pile up"),
                format!(
                    "start its consumer, or: SELECT pg_drop_replication_slot('{}');",
                    name.replace('\'', "''")
                ),
            ),
        };
        findings.warning("vacuum", what, next);
    }
    if rows.is_empty() {
        findings.ok("vacuum", format!("nobody has held it back for longer than {seconds:.0} s"));
    }
    Ok(())
}

/// Of the tables of these names.
pub(super) async fn look_at_dead_rows(
    database: &Database,
    names: &[String],
    bounds: &Bounds,
    findings: &mut Findings,
) -> Result<()> {
    let rows = database.rows(include_str!("sql/dead_rows.sql"), &[&names]).await?;
    let (mut dead_all, mut bytes_all, mut told) = (0, 0, false);
    for row in &rows {
        let (name, live, dead): (String, i64, i64) =
            (column(row, "name")?, column(row, "live")?, column(row, "dead")?);
        let vacuumed_at: Option<String> = column(row, "vacuumed_at")?;
        dead_all += dead;
        bytes_all += column::<i64>(row, "bytes")?;
        if dead > bounds.dead_rows_max && dead > live {
            told = true;
            let vacuumed =
                vacuumed_at.map_or("never vacuumed".to_owned(), |at| format!("last vacuumed at {at}"));
            findings.warning(
                "dead rows",
                format!("table {name} has {dead} dead rows and {live} live ones; {vacuumed}"),
                format!("end what holds back vacuum, then: VACUUM \"{name}\";"),
            );
        }
    }
    if !told {
        let mib = bytes_all / (1024 * 1024);
        findings.ok("dead rows", format!("{dead_all} in {} table(s) of {mib} MiB", rows.len()));
    }
    Ok(())
}

async fn look_at_connections(database: &Database, bounds: &Bounds, findings: &mut Findings) -> Result<()> {
    let rows = database.rows(include_str!("sql/connections.sql"), &[]).await?;
    let Some(row) = rows.first() else { return Ok(()) };
    let of = |name| column::<Option<i64>>(row, name);
    let limits = [
        ("the server", of("limit_all")?, of("used_all")?),
        ("this database", of("limit_database")?, of("used_database")?),
        ("this user", of("limit_user")?, of("used_user")?),
    ];
    // A negative limit is none.
    let limits = limits.into_iter().filter_map(|(whose, limit, used)| Some((whose, limit?, used?)));
    let tightest = limits.filter(|(_, limit, _)| *limit >= 0).min_by_key(|(_, limit, used)| limit - used);
    let Some((whose, limit, used)) = tightest else { return Ok(()) };
    let (free, wanted) = ((limit - used).max(0), bounds.pool_size);
    let shown = format!(
        "{free} of {limit} connections of {whose} are free; one leasehold server opens up to {wanted}"
    );
    let next = "raise max_connections or the limit of user and database, lower the pools, or put a pooler in between";
    match free {
        0 => findings.problem("connections", shown, next),
        free if free < wanted => findings.warning("connections", shown, next),
        _ => findings.ok("connections", shown),
    }
    Ok(())
}
