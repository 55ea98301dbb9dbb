//! Everything in PostgreSQL, in tables of our own that are made when they are first needed.
//!
//! What must be unique, and what must be there for something else to be, are constraints of the tables. Servers that
//! share them tell each other what they deleted or changed.

mod api_keys;
mod changes;
mod dead_queues;
pub(in crate::store) mod dialect;
mod errors;
mod namespaces;
mod role_bindings;
mod roles;
pub(in crate::store) mod schema;
pub(in crate::store) mod script;
pub(in crate::store) mod statements;
mod time;
mod users;
mod withdraw;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use leasehold_core::Deadline;
use leasehold_txn::tokio_postgres::Row;
use leasehold_txn::tokio_postgres::types::FromSql;
use leasehold_txn::{Error as TxnError, Operation, Pipeline, Policy, Pool, Step, Values};
use tokio::sync::Mutex;

use self::dialect::Dialect;
use self::errors::{Unwritten, error_of};
use self::schema::Postgres;
use self::script::Script;
use self::statements::{POSTGRES, Statements};
use super::{Change, ChangeFeed, Result, StoreError, Stores};

/// How long one operation may take, waiting for a connection included.
pub(in crate::store) const TIMEOUT: Duration = Duration::from_secs(10);

/// A store in one PostgreSQL database.
#[derive(Debug)]
pub struct PostgresStore {
    pub(in crate::store) pool: Pool,
    timeout: Duration,
    statements: &'static Statements,
    dialect: Box<dyn Dialect>,
    has_tables: AtomicBool,
    /// One at a time looks for the tables and makes them.
    making: Mutex<()>,
}

impl PostgresStore {
    /// Over a pool that may be shared with others. Touches nothing yet.
    #[must_use]
    pub fn new(pool: Pool) -> Self {
        Self::with(pool, TIMEOUT, &POSTGRES, Box::new(Postgres))
    }

    /// In another dialect.
    pub(in crate::store) fn with(
        pool: Pool,
        timeout: Duration,
        statements: &'static Statements,
        dialect: Box<dyn Dialect>,
    ) -> Self {
        Self {
            pool,
            timeout,
            statements,
            dialect,
            has_tables: AtomicBool::new(false),
            making: Mutex::new(()),
        }
    }

    /// For all kinds of records, with news of what other servers change. Behind a pooler, which would not pass them
    /// on, there are no news: what was cached then lives out its time.
    #[must_use]
    pub fn stores(self) -> Stores {
        let store = Arc::new(self);
        let stores = Stores::of(store.clone());
        if store.pool.behind_pooler() { stores } else { stores.with_changes(store) }
    }

    fn policy(&self) -> Policy {
        self.policy_of(self.timeout)
    }

    pub(in crate::store) fn policy_of(&self, timeout: Duration) -> Policy {
        self.dialect.retries().until(Deadline::after(timeout))
    }

    /// Makes the tables if they are not there. A failure is not remembered: the next call tries again.
    async fn ensure_tables(&self) -> Result<(), TxnError> {
        if self.has_tables.load(Ordering::Acquire) {
            return Ok(());
        }
        let _making = self.making.lock().await;
        if !self.has_tables.load(Ordering::Acquire) {
            self.dialect.make_tables(self).await?;
            self.has_tables.store(true, Ordering::Release);
        }
        Ok(())
    }

    pub(in crate::store) async fn read(
        &self,
        operation: Operation,
        sql: &str,
        values: Values<'_>,
    ) -> Result<Vec<Row>> {
        let step = [Step::new(sql, values)];
        let answer = async {
            self.ensure_tables().await?;
            Pipeline::read(operation, &step).query(&self.pool, &self.policy()).await
        };
        answer.await.map(rows).map_err(|error| error_of(operation, error))
    }

    /// Runs statements that change something. What a constraint refused, or would have, is the caller's to understand.
    async fn write(
        &self,
        operation: Operation,
        script: &Script,
        values: Values<'_>,
    ) -> Result<Vec<Row>, Unwritten> {
        self.ensure_tables().await?;
        let steps = script.steps(values);
        let answers = Pipeline::write(operation, &steps).query(&self.pool, &self.policy()).await?;
        match script.obstacle(&answers) {
            Some(constraint) => Err(Unwritten::Refused { constraint }),
            None => Ok(script.answer(answers)),
        }
    }
}

#[async_trait]
impl ChangeFeed for PostgresStore {
    async fn run(&self, told: &(dyn Fn(Change) + Send + Sync)) {
        self.dialect.hear(self, told).await;
    }
}

pub(in crate::store) fn rows(answers: Vec<Vec<Row>>) -> Vec<Row> {
    answers.into_iter().next_back().unwrap_or_default()
}

/// A column of a row of ours. Fails when somebody changed the table.
pub(in crate::store) fn column<'a, T: FromSql<'a>>(row: &'a Row, name: &str) -> Result<T> {
    row.try_get(name).map_err(|error| unusable(error.to_string()))
}

fn unusable(reason: String) -> StoreError {
    StoreError::Unusable { what: "access tables", reason }
}

/// Whether no row can have this text: PostgreSQL keeps no NUL, and refuses to even look for one.
fn is_nowhere(text: &str) -> bool {
    text.contains('\0')
}

/// A pivot that PostgreSQL can look for and that starts the same list: no stored text lies between the two.
fn pivot(text: &str) -> String {
    match text.split_once('\0') {
        Some((before, _)) => format!("{before}\u{1}"),
        None => text.to_owned(),
    }
}

/// A limit as PostgreSQL counts.
fn limit(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pivot_with_nul_starts_behind_what_is_before_it() {
        assert_eq!(pivot("abc"), "abc");
        let start = pivot("abc\0zzz");
        assert!("abc" < start.as_str() && start.as_str() <= "abc\u{1}" && "abc\0zzz" < start.as_str());
    }
}
