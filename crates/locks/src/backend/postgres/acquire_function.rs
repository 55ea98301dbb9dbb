//! Whether the schema has the function that makes shared mode one call.

use std::sync::atomic::{AtomicU8, Ordering};

use leasehold_txn::{Pipeline, Result, Step};

use super::{PostgresBackend, operations};

const UNKNOWN: u8 = 0;
const THERE: u8 = 1;
const GONE: u8 = 2;

/// Asked for once, before the first acquire.
#[derive(Debug, Default)]
pub(super) struct AcquireFunction(AtomicU8);

impl AcquireFunction {
    pub(super) async fn is_there(&self, backend: &PostgresBackend) -> Result<bool> {
        match self.0.load(Ordering::Relaxed) {
            UNKNOWN => self.look(backend).await,
            known => Ok(known == THERE),
        }
    }

    async fn look(&self, backend: &PostgresBackend) -> Result<bool> {
        let steps = [Step::new(&backend.statements.detect_function, &[])];
        let answer = Pipeline::read(operations::ACQUIRE, &steps)
            .query(&backend.store.pool, &backend.store.policy())
            .await?;
        let row = answer.last().and_then(|rows| rows.first());
        let there = row.and_then(|row| row.try_get(0).ok()).unwrap_or(false);
        self.0.store(if there { THERE } else { GONE }, Ordering::Relaxed);
        Ok(there)
    }

    /// It was dropped since.
    pub(super) fn is_gone(&self) {
        self.0.store(GONE, Ordering::Relaxed);
    }

    /// It may have been made since.
    pub(super) fn forget(&self) {
        self.0.store(UNKNOWN, Ordering::Relaxed);
    }
}
