//! A PostgreSQL database, seen through its catalogue and its statistics. Every statement is a read.

mod activity;
pub(super) mod expected;
pub(super) mod schema;

use std::time::{Duration, Instant};

use leasehold_core::Deadline;
use leasehold_txn::tokio_postgres::Row;
use leasehold_txn::tokio_postgres::types::FromSql;
use leasehold_txn::{
    Config, ConnectionString, Error, Operation, Parameters, Policy, Pool, Result, Statement,
};

use super::clock::{self, SAMPLES, Sample};
use super::finding::Findings;
use crate::failure::Failure;

/// From when on a thing is told of.
pub(super) struct Bounds {
    pub(super) transaction_age_max: Duration,
    pub(super) dead_rows_max: i64,
    pub(super) pool_size: i64,
}

pub(super) const LOOK: Operation = Operation::new("doctor.look");
/// A catalogue that does not answer in this time is a finding of its own.
pub(super) const TIMEOUT: Duration = Duration::from_secs(15);

/// What the tests run on; the statements need 12.
const VERSION_TESTED: i32 = 15;
const VERSION_MIN: i32 = 12;

/// One connection, one statement after the other.
pub(super) struct Database {
    pub(super) pool: Pool,
}

impl Database {
    pub(super) fn open(connection: ConnectionString) -> Result<Self> {
        let config = Config::new(connection).size_max(1).application_name("leasehold doctor");
        Ok(Database { pool: Pool::new(config)? })
    }

    pub(super) async fn rows(&self, sql: &str, values: Parameters<'_>) -> Result<Vec<Row>> {
        let policy = Policy::none().until(Deadline::after(TIMEOUT));
        Statement::read(LOOK, sql).query(&self.pool, &policy, values).await
    }
}

pub(super) fn column<'a, T: FromSql<'a>>(row: &'a Row, name: &'static str) -> Result<T> {
    row.try_get(name).map_err(|source| Error::Database { operation: LOOK, source: source.into() })
}

pub(super) async fn look(
    connection: ConnectionString,
    bounds: &Bounds,
    findings: &mut Findings,
) -> Result<(), Failure> {
    let database = Database::open(connection)?;
    let asked = Instant::now();
    match database.rows("SELECT 1", &[]).await {
        Ok(_) => findings.ok("reach", format!("connected within {} ms", asked.elapsed().as_millis())),
        Err(error) => {
            findings.failed("reach", error, "check that it runs, its address, and user and password");
            return Ok(());
        }
    }
    for looked in [
        about(&database, findings).await,
        look_at_clock(&database, findings).await,
        schema::look(&database, bounds, findings).await,
        activity::look(&database, bounds, findings).await,
    ] {
        if let Err(error) = looked {
            findings.failed("look", error, "give this user the right to read it, or report a bug");
        }
    }
    database.pool.close().await;
    Ok(())
}

async fn about(database: &Database, findings: &mut Findings) -> Result<()> {
    let rows = database.rows(include_str!("sql/about.sql"), &[]).await?;
    let Some(row) = rows.first() else { return Ok(()) };
    let (version, number): (String, i32) = (column(row, "version")?, column(row, "version_number")?);
    match number / 10_000 {
        major if major >= VERSION_TESTED => findings.ok("version", format!("PostgreSQL {version}")),
        major if major >= VERSION_MIN => findings.warning(
            "version",
            format!("PostgreSQL {version}: no release before {VERSION_TESTED} is tested"),
            "upgrade it",
        ),
        _ => findings.problem(
            "version",
            format!("PostgreSQL {version} lacks what is needed"),
            format!("use {VERSION_TESTED} or later"),
        ),
    }
    let is_replica: bool = column(row, "is_replica")?;
    if is_replica || column::<bool>(row, "is_read_only")? {
        let what =
            if is_replica { "this is a replica" } else { "transactions are read-only here by default" };
        findings.problem(
            "role",
            format!("{what}: nothing can be written"),
            "name the primary, and a user who may write",
        );
    } else {
        findings.ok("role", "this is a primary, and takes writes");
    }
    durability(row, findings)?;
    let (schema, may_create): (Option<String>, bool) = (column(row, "schema")?, column(row, "may_create")?);
    match schema {
        None => findings.problem(
            "permissions",
            "the search path names no schema that is there",
            "create one, or set search_path for this user",
        ),
        Some(schema) if may_create => {
            findings.ok("permissions", format!("may make tables in schema {schema}"));
        }
        Some(schema) => findings.warning(
            "permissions",
            format!("may not make tables in schema {schema}: new queues cannot be made"),
            "GRANT CREATE ON SCHEMA to this user, unless all tables are there and stay so",
        ),
    }
    Ok(())
}

/// What a crash of the server can take back of what it acknowledged.
fn durability(row: &Row, findings: &mut Findings) -> Result<()> {
    let synchronous_commit: String = column(row, "synchronous_commit")?;
    let next = "turn it on: items that were acknowledged can be lost, and fences can repeat";
    if !column::<bool>(row, "fsync")? {
        findings.problem("durability", "fsync is off: a crash of the machine can destroy everything", next);
    } else if synchronous_commit == "off" {
        findings.problem(
            "durability",
            "synchronous_commit is off: a crash takes back acknowledged writes",
            next,
        );
    } else if !column::<bool>(row, "full_page_writes")? {
        findings.warning(
            "durability",
            "full_page_writes is off: a crash of the machine can tear pages",
            next,
        );
    } else {
        findings.ok(
            "durability",
            format!("what it acknowledges is on its disk (synchronous_commit {synchronous_commit})"),
        );
    }
    match column(row, "autovacuum")? {
        true => findings.ok("autovacuum", "is on"),
        false => findings.warning(
            "autovacuum",
            "is off: tables of locks and records, and statistics, are looked after by nobody",
            "turn it on",
        ),
    }
    Ok(())
}

pub(super) async fn look_at_clock(database: &Database, findings: &mut Findings) -> Result<()> {
    let mut samples = Vec::new();
    for _ in 0..SAMPLES {
        let asked = clock::now();
        let rows = database.rows(include_str!("sql/clock.sql"), &[]).await?;
        let answered = clock::now();
        if let Some(row) = rows.first() {
            let micros = u64::try_from(column::<i64>(row, "micros")?).unwrap_or(0);
            samples.push(Sample { asked, theirs: Duration::from_micros(micros), answered });
        }
    }
    clock::judge(findings, &samples);
    Ok(())
}
