//! What all stores share: a pool, how shards are fenced, and the one way to run something.

use std::sync::Arc;
use std::time::Duration;

use leasehold_core::Deadline;
use leasehold_txn::tokio_postgres::Row;
use leasehold_txn::{
    Dialect, Failure, Isolation, Operation, Parameters, Policy, Pool, Running, Statement, Transaction,
    detect_level,
};

use crate::sql::{Sql, column};
use crate::{Error, FenceMode, Result};

const OPEN: Operation = Operation::new("state.open");

const HAS_SHARDS: &str = include_str!("schema/sql/has_shards.sql");
/// Finds no row, and so locks none.
const PROBE_KEY_SHARE: &str = include_str!("schema/sql/probe_key_share.sql");

/// How a database is used.
#[derive(Clone, Debug)]
pub struct Config {
    /// How shards are fenced; the best that the database has unless given.
    pub fence_mode: Option<FenceMode>,
    /// How a transaction that lost to another is tried again.
    pub retries: Policy,
    /// The same for taking a shard over, which must find a gap between the commits of the owner before, and for the few
    /// rows that every writer of a cluster meets.
    pub takeover_retries: Policy,
    /// The longest that an operation may take; of a deletion in several transactions, each of them.
    pub timeout: Duration,
}

impl Config {
    /// The defaults for a dialect.
    #[must_use]
    pub fn new(dialect: Dialect) -> Self {
        let patient = Policy::new(16, Duration::from_millis(5), Duration::from_millis(500));
        Self {
            fence_mode: None,
            retries: match dialect {
                Dialect::Postgres { retry_conflicts: false, .. } => Policy::none(),
                Dialect::Postgres { .. } | Dialect::Dsql { .. } => Policy::dsql(),
            },
            takeover_retries: patient.expect("within the limits of a policy"),
            timeout: Duration::from_secs(10),
        }
    }
}

/// A database with Temporal's tables. Clones share the pool.
#[derive(Clone)]
pub struct Database(Arc<Shared>);

struct Shared {
    pool: Pool,
    fence_mode: FenceMode,
    config: Config,
}

impl Database {
    /// Looks for the tables and settles how shards are fenced. Changes nothing. A DSQL cluster is asked which locks it has,
    /// whatever level the pool was made for, unless [`FenceMode::Update`] is asked for, which every cluster has: that takes
    /// the right to write to the table `shards`.
    ///
    /// # Errors
    /// [`Error::BadSchema`] when the fence that was asked for is not to be had, or the tables are not there;
    /// [`Error::InvalidRequest`] for a pool at REPEATABLE READ that does not retry conflicts.
    pub async fn open(pool: Pool, config: Config) -> Result<Self> {
        let dialect = pool.dialect();
        if let Dialect::Postgres { isolation: Isolation::RepeatableRead, retry_conflicts: false } = dialect {
            // Who loses a race waits at READ COMMITTED, and fails here: with nobody to run it again, for no reason it is told.
            let reason =
                "at REPEATABLE READ must retry conflicts: set `retry_conflicts`, or use READ COMMITTED";
            return Err(Error::invalid("pool", reason.to_owned()));
        }
        let policy = config.retries.clone().until(Deadline::after(config.timeout));
        let rows = Statement::read(OPEN, HAS_SHARDS).query(&pool, &policy, &[]).await;
        let rows = rows.map_err(|error| Error::of(OPEN, error))?;
        let row = rows.first().ok_or(Error::Missing { what: "the catalogue" })?;
        if !column::<bool>(row, "has_shards")? {
            let reason = "there is no table `shards`: run `leasehold schema apply --face state`";
            return Err(Error::BadSchema { reason: reason.to_owned() });
        }
        let dialect = match dialect {
            Dialect::Dsql { .. } if config.fence_mode != Some(FenceMode::Update) => {
                let level = detect_level(&pool, &policy, PROBE_KEY_SHARE).await;
                Dialect::Dsql { level: level.map_err(|error| Error::of(OPEN, error))? }
            }
            known => known,
        };
        let fence_mode = settle(config.fence_mode, dialect)?;
        tracing::info!(fence_mode = fence_mode.as_str(), "shards are fenced");
        Ok(Self(Arc::new(Shared { pool, fence_mode, config })))
    }

    /// How shards are fenced, the same for all that this database writes.
    #[must_use]
    pub fn fence_mode(&self) -> FenceMode {
        self.0.fence_mode
    }

    /// The connections.
    #[must_use]
    pub fn pool(&self) -> &Pool {
        &self.0.pool
    }

    pub(crate) fn is_dsql(&self) -> bool {
        matches!(self.0.pool.dialect(), Dialect::Dsql { .. })
    }

    /// The words of this dialect.
    pub(crate) fn words(&self, sql: Sql) -> &'static str {
        if self.is_dsql() { sql.dsql } else { sql.postgres }
    }

    fn policy(&self) -> Policy {
        self.0.config.retries.clone().until(Deadline::after(self.0.config.timeout))
    }

    pub(crate) fn takeover_policy(&self) -> Policy {
        // Where nothing is retried a takeover waits for the lock instead.
        match self.0.pool.dialect() {
            Dialect::Postgres { retry_conflicts: false, .. } => self.policy(),
            _ => self.0.config.takeover_retries.clone().until(Deadline::after(self.0.config.timeout)),
        }
    }

    /// Runs `body` in a transaction; see [`leasehold_txn::run`] for what a body may do. Its conditions are errors of ours.
    pub(crate) async fn run<'a, T, F>(&self, operation: Operation, body: F) -> Result<T>
    where
        F: for<'t> Fn(&'t Transaction<'a>) -> Running<'t, T, Error>,
    {
        self.run_with(operation, &self.policy(), body).await
    }

    /// [`run`](Self::run) with the patience of a takeover, for a row that many write at the same time.
    pub(crate) async fn run_patiently<'a, T, F>(&self, operation: Operation, body: F) -> Result<T>
    where
        F: for<'t> Fn(&'t Transaction<'a>) -> Running<'t, T, Error>,
    {
        self.run_with(operation, &self.takeover_policy(), body).await
    }

    /// [`run`](Self::run) with a patience of its own.
    pub(crate) async fn run_with<'a, T, F>(&self, operation: Operation, policy: &Policy, body: F) -> Result<T>
    where
        F: for<'t> Fn(&'t Transaction<'a>) -> Running<'t, T, Error>,
    {
        leasehold_txn::run(&self.0.pool, operation, policy, body).await.map_err(|failure| match failure {
            Failure::Condition(error) => error,
            Failure::Transaction(error) => Error::of(operation, error),
        })
    }

    /// A lone statement that changes nothing.
    pub(crate) async fn read(
        &self,
        operation: Operation,
        sql: Sql,
        parameters: Parameters<'_>,
    ) -> Result<Vec<Row>> {
        let statement = Statement::read(operation, self.words(sql));
        statement
            .query(&self.0.pool, &self.policy(), parameters)
            .await
            .map_err(|error| Error::of(operation, error))
    }

    /// A lone statement that may change something; how many rows it touched.
    pub(crate) async fn write(
        &self,
        operation: Operation,
        sql: Sql,
        parameters: Parameters<'_>,
    ) -> Result<u64> {
        let statement = Statement::write(operation, self.words(sql));
        statement
            .execute(&self.0.pool, &self.policy(), parameters)
            .await
            .map_err(|error| Error::of(operation, error))
    }
}

impl std::fmt::Debug for Database {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Database")
            .field("is_dsql", &self.is_dsql())
            .field("fence_mode", &self.0.fence_mode)
            .finish_non_exhaustive()
    }
}

/// What was asked for must be had.
fn settle(wanted: Option<FenceMode>, dialect: Dialect) -> Result<FenceMode> {
    match wanted {
        Some(mode) if !mode.is_known_to(dialect) => {
            Err(Error::BadSchema { reason: format!("this database has no lock for the fence mode `{mode}`") })
        }
        Some(mode) => Ok(mode),
        None => Ok(FenceMode::preferred(dialect)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lock_that_the_database_lacks_is_refused() {
        for mode in [FenceMode::Share, FenceMode::KeyShare] {
            assert!(settle(Some(mode), Dialect::DSQL).is_err(), "{mode}");
        }
        let mode = settle(Some(FenceMode::KeyShare), Dialect::POSTGRES).expect("a mode");
        assert_eq!(mode, FenceMode::KeyShare);
    }
}
