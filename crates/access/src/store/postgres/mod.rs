//! Everything in PostgreSQL, in tables of our own that are made when they are first needed.
//!
//! What must be unique, and what must be there for something else to be, are constraints of the tables. Servers that
//! share them tell each other what they deleted or changed.

mod api_keys;
mod changes;
mod errors;
mod namespaces;
mod role_bindings;
mod roles;
mod schema;
mod time;
mod users;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use leasehold_core::Deadline;
use leasehold_txn::tokio_postgres::Row;
use leasehold_txn::tokio_postgres::types::FromSql;
use leasehold_txn::{Error as TxnError, Operation, Pipeline, Policy, Pool, Step, Values};

use self::errors::error_of;
use super::{Result, StoreError, Stores};

/// How long one operation may take, waiting for a connection included.
const TIMEOUT: Duration = Duration::from_secs(10);

/// A store in one PostgreSQL database.
#[derive(Debug)]
pub struct PostgresStore {
    pool: Pool,
    has_tables: AtomicBool,
}

impl PostgresStore {
    /// Over a pool that may be shared with others. Touches nothing yet.
    #[must_use]
    pub fn new(pool: Pool) -> Self {
        Self { pool, has_tables: AtomicBool::new(false) }
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
        Policy::none().until(Deadline::after(TIMEOUT))
    }

    async fn read(&self, operation: Operation, sql: &str, values: Values<'_>) -> Result<Vec<Row>> {
        let step = [Step::new(sql, values)];
        let answer = async {
            self.ensure_tables().await?;
            Pipeline::read(operation, &step).query(&self.pool, &self.policy()).await
        };
        answer.await.map(rows).map_err(|error| error_of(operation, error))
    }

    /// Runs a statement that changes something. A refusal by a constraint is its caller's to understand.
    async fn write(&self, operation: Operation, sql: &str, values: Values<'_>) -> Result<Vec<Row>, TxnError> {
        self.ensure_tables().await?;
        let step = [Step::new(sql, values)];
        Pipeline::write(operation, &step).query(&self.pool, &self.policy()).await.map(rows)
    }
}

fn rows(answers: Vec<Vec<Row>>) -> Vec<Row> {
    answers.into_iter().next_back().unwrap_or_default()
}

/// A column of a row of ours. Fails when somebody changed the table.
fn column<'a, T: FromSql<'a>>(row: &'a Row, name: &str) -> Result<T> {
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
