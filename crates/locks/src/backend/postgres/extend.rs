//! Making a hold last.

use leasehold_core::{Refusal, Timestamp};
use leasehold_txn::tokio_postgres::types::Type;
use leasehold_txn::{Step, Values};

use super::acquire::millis;
use super::errors::{column, error_of, number, told, unexpected};
use super::store::Store;
use super::{PostgresBackend, operations};
use crate::{ExtendOutcome, ExtendRequest, Result};

const OPERATION: &str = "extend";

/// By the function where the schema has it.
pub(super) async fn extend_by_call(
    backend: &PostgresBackend,
    request: &ExtendRequest,
) -> Result<ExtendOutcome> {
    let (lock_id, ttl_ms) = (request.lock_id.as_str(), millis(request.ttl));
    let values: Values<'_> = &[(&lock_id, Type::TEXT), (&ttl_ms, Type::INT8)];
    let call = &backend.statements.call_extend;
    let called = backend.functions.call(backend, operations::EXTEND, call, values).await;
    let Some(rows) = called.map_err(|error| error_of(OPERATION, error))? else {
        return extend(&backend.store, request).await;
    };
    match told(OPERATION, &rows)?.map(|told| told.split_once(' ').unwrap_or((told, ""))) {
        None => Ok(ExtendOutcome::Refused(Refusal::NotFound)),
        Some(("extended", expires_at_ms)) => outcome("extended", number(OPERATION, expires_at_ms)?),
        Some((other, _)) => outcome(other, 0),
    }
}

/// By the statement.
pub(in crate::backend) async fn extend(store: &Store, request: &ExtendRequest) -> Result<ExtendOutcome> {
    let (lock_id, ttl_ms) = (request.lock_id.as_str(), millis(request.ttl));
    let values: Values<'_> = &[(&lock_id, Type::TEXT), (&ttl_ms, Type::INT8)];
    let steps = [Step::new(&store.statements.extend, values)];
    let rows = store.write(operations::EXTEND, &steps).await.map_err(|error| error_of(OPERATION, error))?;
    let Some(row) = rows.first() else { return Ok(ExtendOutcome::Refused(Refusal::NotFound)) };
    let expires_at_ms: Option<i64> = column(OPERATION, row, "expires_at_ms")?;
    outcome(column(OPERATION, row, "outcome")?, expires_at_ms.unwrap_or(0))
}

fn outcome(outcome: &str, expires_at_ms: i64) -> Result<ExtendOutcome> {
    match outcome {
        "extended" => Ok(ExtendOutcome::Extended { expires_at: Timestamp::from_millis(expires_at_ms) }),
        "expired" => Ok(ExtendOutcome::Refused(Refusal::Expired)),
        other => Err(unexpected(OPERATION, format!("the statement ended as {other}"))),
    }
}
