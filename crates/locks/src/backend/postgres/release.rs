//! Ending a hold.

use leasehold_core::{KeyHash, LockId, Refusal};
use leasehold_txn::tokio_postgres::Row;
use leasehold_txn::tokio_postgres::types::Type;
use leasehold_txn::{Step, Values};

use super::errors::{column, error_of, told, unexpected};
use super::store::Store;
use super::{PostgresBackend, operations};
use crate::{ReleaseOutcome, Result};

pub(super) const OPERATION: &str = "release";

/// By the function where the schema has it.
pub(super) async fn release_by_call(backend: &PostgresBackend, lock_id: &LockId) -> Result<ReleaseOutcome> {
    let (store, text) = (&backend.store, lock_id.as_str());
    let values: Values<'_> = &[(&text, Type::TEXT)];
    let call = &backend.statements.call_release;
    let called = backend.functions.call(backend, operations::RELEASE, call, values).await;
    match called.map_err(|error| error_of(OPERATION, error))? {
        Some(rows) => match told(OPERATION, &rows)? {
            None => Ok(ReleaseOutcome::Refused(Refusal::NotFound)),
            Some(told) => outcome_of_call(store, told),
        },
        None => release(store, lock_id).await,
    }
}

/// What the function says.
pub(super) fn outcome_of_call(store: &Store, told: &str) -> Result<ReleaseOutcome> {
    let (outcome, user_key) = told.split_once(' ').unwrap_or((told, ""));
    ended(store, outcome, user_key)
}

/// By the statement.
pub(in crate::backend) async fn release(store: &Store, lock_id: &LockId) -> Result<ReleaseOutcome> {
    let lock_id = lock_id.as_str();
    let values: Values<'_> = &[(&lock_id, Type::TEXT)];
    let steps = [Step::new(&store.statements.release, values)];
    let rows = store.write(operations::RELEASE, &steps).await.map_err(|error| error_of(OPERATION, error))?;
    answer(store, &rows)
}

fn answer(store: &Store, rows: &[Row]) -> Result<ReleaseOutcome> {
    rows.first().map_or(Ok(ReleaseOutcome::Refused(Refusal::NotFound)), |row| outcome(store, row))
}

/// What a row says.
pub(super) fn outcome(store: &Store, row: &Row) -> Result<ReleaseOutcome> {
    ended(store, column(OPERATION, row, "outcome")?, column(OPERATION, row, "user_key")?)
}

/// Whoever waits for the key is told.
fn ended(store: &Store, outcome: &str, user_key: &str) -> Result<ReleaseOutcome> {
    match outcome {
        "released" => {
            store.news.freed(KeyHash::of(user_key));
            Ok(ReleaseOutcome::Released)
        }
        "expired" => Ok(ReleaseOutcome::Refused(Refusal::Expired)),
        other => Err(unexpected(OPERATION, format!("the statement ended as {other}"))),
    }
}
