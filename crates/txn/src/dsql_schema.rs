//! Makes tables and indexes on DSQL, where each is a transaction of its own and an index is built by a job.

use std::time::Instant;

use tokio_postgres::Row;
use tokio_postgres::types::Type;

use crate::pipeline::{Pipeline, Step, Values};
use crate::{Error, Operation, Policy, Pool, Result};

const WAIT_FOR_JOB: &str = include_str!("sql/wait_for_job.sql");
const INDEX_STATE: &str = include_str!("sql/index_state.sql");

/// Builds of one index that may fail in one call.
const BUILDS_MAX: u32 = 2;

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

/// Runs `CREATE INDEX ASYNC IF NOT EXISTS …` statements one by one, and waits until each index is built, by this caller or another.
/// Drops an index whose build has failed and makes it again.
///
/// Dropping the call, or a failure, leaves some of the indexes made or being built; it may be repeated, by several at once.
///
/// # Errors
/// As [`run`](crate::run); [`Error::IndexNotBuilt`] when two builds of an index have failed.
pub async fn make_dsql_indexes(
    pool: &Pool,
    operation: Operation,
    policy: &Policy,
    indexes: &[&str],
) -> Result<()> {
    for sql in indexes {
        let index = Index { pool, operation, policy, sql, name: index_name(sql) };
        index.make().await?;
    }
    Ok(())
}

/// An index that is wanted.
struct Index<'a> {
    pool: &'a Pool,
    operation: Operation,
    policy: &'a Policy,
    sql: &'a str,
    name: &'a str,
}

/// An index that is there.
struct Found {
    is_valid: bool,
    /// The job that is at work on it.
    job: Option<String>,
    /// What the job that was asked about says of its end.
    details: Option<String>,
}

/// How a build ended.
enum Ended {
    Valid,
    Dropped,
    /// It failed, of a job of this caller's for this reason.
    Invalid {
        reason: String,
    },
}

impl Index<'_> {
    async fn make(&self) -> Result<()> {
        let mut failures = 0;
        loop {
            // An index of this name that is there, valid or not, is passed over without a job.
            let made = make(self.pool, self.operation, self.policy, self.sql).await?;
            let own: Option<String> = made.first().and_then(|row| row.try_get(0).ok());
            let reason = match self.wait(own.as_deref()).await? {
                Ended::Valid => return Ok(()),
                // Another caller found it invalid.
                Ended::Dropped => {
                    self.pause(1).await?;
                    continue;
                }
                Ended::Invalid { reason } => reason,
            };
            failures += u32::from(own.is_some());
            if failures == BUILDS_MAX {
                return Err(Error::IndexNotBuilt { index: self.name.to_owned(), reason });
            }
            let drop = format!("DROP INDEX IF EXISTS \"{}\"", self.name);
            // Not repeated without another look: who won a conflict may have built it meanwhile.
            let once = self.policy.deadline().map_or_else(Policy::none, |at| Policy::none().until(at));
            match write(self.pool, self.operation, &once, &drop, &[]).await {
                Err(Error::ConflictExhausted { .. }) => self.pause(1).await?,
                dropped => {
                    dropped?;
                }
            }
        }
    }

    /// Waits for the build, which may have a job of this caller's.
    async fn wait(&self, own: Option<&str>) -> Result<Ended> {
        let mut job = own.map(str::to_owned);
        let mut looks = 0;
        loop {
            if let Some(job) = &job
                && self.succeeds(job).await?
            {
                return Ok(Ended::Valid);
            }
            // False is a build that failed, and a wait that timed out.
            match self.look(own).await? {
                None => return Ok(Ended::Dropped),
                Some(Found { is_valid: true, .. }) => return Ok(Ended::Valid),
                Some(Found { job: None, details, .. }) => {
                    return Ok(Ended::Invalid { reason: details.unwrap_or_default() });
                }
                Some(found) => job = found.job,
            }
            looks += 1;
            self.pause(looks).await?;
        }
    }

    /// Blocks until a job ends, or the cluster has waited long enough. Sent alone: in a transaction it is refused.
    async fn succeeds(&self, job: &str) -> Result<bool> {
        let values: Values<'_> = &[(&job, Type::TEXT)];
        let answer = Pipeline::alone(self.operation, &[Step::new(WAIT_FOR_JOB, values)])
            .query(self.pool, self.policy)
            .await?;
        Ok(answer.first().and_then(|rows| rows.first()?.try_get(0).ok()) == Some(true))
    }

    async fn look(&self, own: Option<&str>) -> Result<Option<Found>> {
        let values: Values<'_> = &[(&self.name, Type::TEXT), (&own, Type::TEXT)];
        let steps = [Step::new(INDEX_STATE, values)];
        let answers = Pipeline::read(self.operation, &steps).query(self.pool, self.policy).await?;
        let Some(row) = answers.first().and_then(|rows| rows.first()) else { return Ok(None) };
        let (is_valid, job, details) =
            (row.try_get("is_valid"), row.try_get("job_id"), row.try_get("details"));
        Ok(Some(Found {
            is_valid: is_valid.unwrap_or_default(),
            job: job.unwrap_or_default(),
            details: details.unwrap_or_default(),
        }))
    }

    async fn pause(&self, looks: u32) -> Result<()> {
        let pause = self.policy.pause(looks);
        if self.policy.deadline().is_some_and(|deadline| deadline.remaining(Instant::now()) <= pause) {
            return Err(Error::DeadlinePassed { operation: self.operation });
        }
        tokio::time::sleep(pause).await;
        Ok(())
    }
}

/// The name in `CREATE INDEX ASYNC IF NOT EXISTS name ON …`, without its quotes.
fn index_name(sql: &str) -> &str {
    let name = sql.split_once("IF NOT EXISTS ").and_then(|(_, rest)| rest.split_whitespace().next());
    name.unwrap_or_default().trim_matches('"')
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

#[cfg(test)]
mod tests {
    use super::index_name;

    #[test]
    fn name_of_an_index_is_read_from_its_statement() {
        for (sql, name) in [
            ("CREATE INDEX ASYNC IF NOT EXISTS by_value ON t (value)", "by_value"),
            ("-- why\nCREATE UNIQUE INDEX ASYNC IF NOT EXISTS \"idx_locks\" ON \"locks\" (id)", "idx_locks"),
        ] {
            assert_eq!(index_name(sql), name);
        }
    }
}
