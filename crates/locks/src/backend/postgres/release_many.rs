//! Ending many holds in one round trip.

use std::collections::HashMap;

use leasehold_core::{LockId, Refusal};
use leasehold_txn::tokio_postgres::Row;
use leasehold_txn::tokio_postgres::types::Type;
use leasehold_txn::{Result as TxnResult, Step, Values};

use super::errors::{column, error_of};
use super::release::{OPERATION, outcome};
use super::{PostgresBackend, operations};
use crate::{ReleaseOutcome, Result};

pub(super) async fn release_many(
    backend: &PostgresBackend,
    lock_ids: &[LockId],
) -> Result<Vec<Result<ReleaseOutcome>>> {
    let texts: Vec<&str> = lock_ids.iter().map(LockId::as_str).collect();
    let values: Values<'_> = &[(&texts, Type::TEXT_ARRAY)];
    let rows = end(backend, values).await.map_err(|error| error_of(OPERATION, error))?;
    let mut by_lock_id = HashMap::with_capacity(rows.len());
    for row in &rows {
        by_lock_id.insert(column::<&str>(OPERATION, row, "lock_id")?, row);
    }
    // Taken out of the map: an id that was given twice is released once.
    let answers = texts.iter().map(|lock_id| match by_lock_id.remove(lock_id) {
        Some(row) => outcome(&backend.store, row),
        None => Ok(ReleaseOutcome::Refused(Refusal::NotFound)),
    });
    Ok(answers.collect())
}

/// By the function where the schema has it, else by the statement.
async fn end(backend: &PostgresBackend, values: Values<'_>) -> TxnResult<Vec<Row>> {
    let statements = &backend.statements;
    let call = &statements.call_release_many;
    if let Some(rows) = backend.functions.call(backend, operations::RELEASE_MANY, call, values).await? {
        return Ok(rows);
    }
    let steps = [Step::new(&statements.release_many, values)];
    backend.store.write(operations::RELEASE_MANY, &steps).await
}
