//! Ending a hold.

use leasehold_core::{KeyHash, LockId, Refusal};
use leasehold_txn::tokio_postgres::Row;
use leasehold_txn::tokio_postgres::types::Type;
use leasehold_txn::{Step, Values};

use super::errors::{column, error_of, unexpected};
use super::{PostgresBackend, operations};
use crate::{ReleaseOutcome, Result};

pub(super) const OPERATION: &str = "release";

pub(super) async fn release(backend: &PostgresBackend, lock_id: &LockId) -> Result<ReleaseOutcome> {
    let lock_id = lock_id.as_str();
    let values: Values<'_> = &[(&lock_id, Type::TEXT)];
    let steps = [Step::new(&backend.statements.release, values)];
    let rows =
        backend.write(operations::RELEASE, &steps).await.map_err(|error| error_of(OPERATION, error))?;
    rows.first().map_or(Ok(ReleaseOutcome::Refused(Refusal::NotFound)), |row| outcome(backend, row))
}

/// What a row says; whoever waits for its key is told.
pub(super) fn outcome(backend: &PostgresBackend, row: &Row) -> Result<ReleaseOutcome> {
    match column(OPERATION, row, "outcome")? {
        "released" => {
            backend.news.freed(KeyHash::of(column(OPERATION, row, "user_key")?));
            Ok(ReleaseOutcome::Released)
        }
        "expired" => Ok(ReleaseOutcome::Refused(Refusal::Expired)),
        "not-found" => Ok(ReleaseOutcome::Refused(Refusal::NotFound)),
        other => Err(unexpected(OPERATION, format!("the statement ended as {other}"))),
    }
}
