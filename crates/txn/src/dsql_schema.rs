//! Makes tables and indexes on DSQL, where each is a transaction of its own and an index is built by a job.

use tokio_postgres::Row;
use tokio_postgres::types::Type;

use crate::pipeline::{Pipeline, Step, Values};
use crate::{Error, Operation, Policy, Pool, Result};

const WAIT_FOR_JOB: &str = include_str!("sql/wait_for_job.sql");

/// Runs `CREATE TABLE IF NOT EXISTS …` statements one by one.
///
/// Dropping the call, or a failure, leaves some of the tables made; it may be repeated, by several at once.
///
/// # Errors
/// As [`run`](crate::run).
pub async fn make_dsql_tables(
    pool: &Pool,
    operation: Operation,
    policy: &Policy,
    tables: &[&str],
) -> Result<()> {
    for table in tables {
        make(pool, operation, policy, table).await?;
    }
    Ok(())
}

/// Runs `CREATE INDEX ASYNC IF NOT EXISTS …` statements one by one, and waits until each is built. One that is there is not
/// waited for, whoever builds it.
///
/// Dropping the call, or a failure, leaves some of the indexes made or being built; it may be repeated, by several at once.
///
/// # Errors
/// As [`run`](crate::run).
pub async fn make_dsql_indexes(
    pool: &Pool,
    operation: Operation,
    policy: &Policy,
    indexes: &[&str],
) -> Result<()> {
    for index in indexes {
        let jobs = make(pool, operation, policy, index).await?;
        // No job where the index is there already.
        let job: Option<String> = jobs.first().and_then(|row| row.try_get(0).ok());
        if let Some(job) = job {
            wait_for_dsql_job(pool, operation, policy, &job).await?;
        }
    }
    Ok(())
}

/// Waits until the job that builds an index has ended.
///
/// Dropping the call leaves the job at work.
///
/// # Errors
/// As [`run`](crate::run).
pub async fn wait_for_dsql_job(pool: &Pool, operation: Operation, policy: &Policy, job: &str) -> Result<()> {
    write(pool, operation, policy, WAIT_FOR_JOB, &[(&job, Type::TEXT)]).await.map(drop)
}

/// May meet another process that is making the same: then once more, to find it made.
async fn make(pool: &Pool, operation: Operation, policy: &Policy, sql: &str) -> Result<Vec<Row>> {
    match write(pool, operation, policy, sql, &[]).await {
        Err(error) if is_made_by_another(&error) => write(pool, operation, policy, sql, &[]).await,
        made => made,
    }
}

/// Whether two made a table at the same moment, and the other one did, or does.
#[must_use]
pub fn is_made_by_another(error: &Error) -> bool {
    // The name of a table is also that of a type and of its rows in the catalogue, and any of them may be met first.
    matches!(error.sqlstate(), Some("23505" | "42P07" | "42710"))
}

async fn write(
    pool: &Pool,
    operation: Operation,
    policy: &Policy,
    sql: &str,
    values: Values<'_>,
) -> Result<Vec<Row>> {
    let steps = [Step::new(sql, values)];
    let answers = Pipeline::write(operation, &steps).query(pool, policy).await?;
    Ok(answers.into_iter().next_back().unwrap_or_default())
}
