//! The functions in the schema that make an operation one cheap call, and whether they are there.

use std::sync::atomic::{AtomicU8, Ordering};

use leasehold_txn::tokio_postgres::Row;
use leasehold_txn::{Operation, Pipeline, Result, Step, Values};

use super::{PostgresBackend, operations};

const UNKNOWN: u8 = 0;
const THERE: u8 = 1;
const GONE: u8 = 2;

/// The SQLSTATE of a function that is not there.
const UNDEFINED_FUNCTION: &str = "42883";

/// Asked for once, before the first call.
#[derive(Debug, Default)]
pub(super) struct Functions(AtomicU8);

impl Functions {
    /// The rows of a call that changes something; `None` where the schema has no functions, and the statements have to do.
    pub(super) async fn call(
        &self,
        backend: &PostgresBackend,
        operation: Operation,
        sql: &str,
        values: Values<'_>,
    ) -> Result<Option<Vec<Row>>> {
        if !self.are_there(backend).await? {
            return Ok(None);
        }
        self.noticed(backend.store.write(operation, &[Step::new(sql, values)]).await)
    }

    /// [`Functions::call`] where nothing changes.
    pub(super) async fn look_up(
        &self,
        backend: &PostgresBackend,
        operation: Operation,
        sql: &str,
        values: Values<'_>,
    ) -> Result<Option<Vec<Row>>> {
        if !self.are_there(backend).await? {
            return Ok(None);
        }
        self.noticed(backend.store.read(operation, &[Step::new(sql, values)]).await)
    }

    fn noticed(&self, answer: Result<Vec<Row>>) -> Result<Option<Vec<Row>>> {
        match answer {
            // Dropped since; nothing happened.
            Err(error) if error.sqlstate() == Some(UNDEFINED_FUNCTION) => {
                self.0.store(GONE, Ordering::Relaxed);
                Ok(None)
            }
            answer => answer.map(Some),
        }
    }

    async fn are_there(&self, backend: &PostgresBackend) -> Result<bool> {
        match self.0.load(Ordering::Relaxed) {
            UNKNOWN => self.detect(backend).await,
            known => Ok(known == THERE),
        }
    }

    async fn detect(&self, backend: &PostgresBackend) -> Result<bool> {
        let steps = [Step::new(&backend.statements.detect_functions, &[])];
        let answer = Pipeline::read(operations::DETECT, &steps)
            .query(&backend.store.pool, &backend.store.policy())
            .await?;
        let row = answer.last().and_then(|rows| rows.first());
        let there = row.and_then(|row| row.try_get(0).ok()).unwrap_or(false);
        self.0.store(if there { THERE } else { GONE }, Ordering::Relaxed);
        Ok(there)
    }

    /// They may have been made since.
    pub(super) fn forget(&self) {
        self.0.store(UNKNOWN, Ordering::Relaxed);
    }
}
