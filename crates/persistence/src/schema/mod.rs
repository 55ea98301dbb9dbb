//! The tables, and how they are made.

use std::time::Duration;

use leasehold_core::Deadline;
use leasehold_txn::tokio_postgres::Row;
use leasehold_txn::{Dialect, Operation, Policy, Pool, Statement};

use crate::{Error, Result};

const APPLY: Operation = Operation::new("state.apply_schema");
const POSTGRES: &str = include_str!("postgres.sql");
const DSQL: &str = include_str!("dsql.sql");
const WAIT_FOR_JOB: &str = include_str!("wait_for_job.sql");
/// How long one statement may take, an index over a filled table included.
const STATEMENT_TIMEOUT: Duration = Duration::from_secs(600);

/// The tables of a dialect.
#[derive(Clone, Copy, Debug)]
pub struct Schema {
    script: &'static str,
    is_dsql: bool,
}

impl Schema {
    /// The schema of a dialect.
    #[must_use]
    pub const fn of(dialect: Dialect) -> Self {
        match dialect {
            Dialect::Postgres { .. } => Self { script: POSTGRES, is_dsql: false },
            Dialect::Dsql { .. } => Self { script: DSQL, is_dsql: true },
        }
    }

    /// The statements, each idempotent, in order; each is a transaction of its own.
    pub fn statements(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.script.split(";\n").map(without_comments).filter(|statement| !statement.is_empty())
    }

    /// Makes what is missing. Several may do so at once.
    ///
    /// # Errors
    /// What the database refuses.
    pub async fn apply(&self, pool: &Pool) -> Result<()> {
        for statement in self.statements() {
            let answer = match run(pool, statement, &[]).await {
                // Somebody else made it at the same moment: now it is found made.
                Err(error) if is_made_by_another(&error) => run(pool, statement, &[]).await,
                answer => answer,
            };
            let rows = answer?;
            // No job where the index is there already.
            let job: Option<String> = rows.first().and_then(|row| row.try_get(0).ok());
            if let (true, Some(job)) = (self.is_dsql, job) {
                run(pool, WAIT_FOR_JOB, &[&job]).await?;
            }
        }
        Ok(())
    }
}

async fn run(pool: &Pool, sql: &str, values: leasehold_txn::Parameters<'_>) -> Result<Vec<Row>> {
    let policy = Policy::seed().until(Deadline::after(STATEMENT_TIMEOUT));
    let rows = Statement::write(APPLY, sql).query(pool, &policy, values).await;
    rows.map_err(|error| Error::of(APPLY, error))
}

/// `IF NOT EXISTS` looks before it makes; two who look at once both make, and a catalogue refuses the second.
fn is_made_by_another(error: &Error) -> bool {
    matches!(error.sqlstate(), Some("23505" | "42P07" | "42710"))
}

fn without_comments(statement: &'static str) -> &'static str {
    let mut rest = statement.trim_start();
    while let Some(comment) = rest.strip_prefix("--") {
        rest = comment.split_once('\n').map_or("", |(_, rest)| rest.trim_start());
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_dialects_make_the_same_tables() {
        let tables = |dialect| -> Vec<_> {
            Schema::of(dialect)
                .statements()
                .filter_map(|statement| statement.strip_prefix("CREATE TABLE IF NOT EXISTS "))
                .map(|rest| rest.split_whitespace().next().expect("a name"))
                .collect()
        };
        assert_eq!(tables(Dialect::POSTGRES), tables(Dialect::DSQL));
        assert_eq!(tables(Dialect::POSTGRES).len(), 37);
    }

    #[test]
    fn every_statement_can_be_repeated() {
        for dialect in [Dialect::POSTGRES, Dialect::DSQL] {
            for statement in Schema::of(dialect).statements() {
                assert!(
                    statement.contains("IF NOT EXISTS") || statement.contains("ON CONFLICT"),
                    "{statement}"
                );
            }
        }
    }
}
