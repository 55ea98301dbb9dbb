//! A few acquires and releases in one statement: one round trip, one commit.

use leasehold_core::{LockId, Refusal};
use leasehold_txn::tokio_postgres::Row;
use leasehold_txn::tokio_postgres::types::Type;

use super::acquire::outcome_of_call;
use super::acquire_many::Together;
use super::asked::Asked;
use super::errors::{column, error_of};
use super::release::outcome_of_call as end_of_call;
use super::{PostgresBackend, operations};
use crate::{AcquireOutcome, AcquireRequest, ReleaseOutcome, Result};

const OPERATION: &str = "turn";

/// The most of one kind for which a call each is cheaper than a statement made for many.
const LEN_MAX: usize = 16;

/// The answers in the order of the requests and of the ids.
type Answers = (Vec<Result<AcquireOutcome>>, Vec<Result<ReleaseOutcome>>);

/// Whether it is worth it.
pub(super) fn fits(requests: &[AcquireRequest], lock_ids: &[LockId]) -> bool {
    requests.len() <= LEN_MAX && lock_ids.len() <= LEN_MAX && requests.len() + lock_ids.len() > 1
}

/// `None` where the schema has no functions.
pub(super) async fn take(
    backend: &PostgresBackend,
    requests: &[AcquireRequest],
    lock_ids: &[LockId],
) -> Result<Option<Answers>> {
    let together = Together::of(requests);
    let asked = Asked::of(&together.requests, backend.config.mode);
    let ending: Vec<&str> = lock_ids.iter().map(LockId::as_str).collect();
    let mut values = asked.values().to_vec();
    values.push((&ending, Type::TEXT_ARRAY));
    let call = &backend.statements.call_turn;
    let called = backend.functions.call(backend, operations::TURN, call, &values).await;
    let Some(rows) = called.map_err(|error| error_of(OPERATION, error))? else { return Ok(None) };

    let mut acquired: Vec<_> = together.requests.iter().map(|_| None).collect();
    // Not found, unless a row says otherwise.
    let mut released: Vec<_> =
        lock_ids.iter().map(|_| Ok(ReleaseOutcome::Refused(Refusal::NotFound))).collect();
    for row in &rows {
        let Some(told) = column::<Option<&str>>(OPERATION, row, "told")? else { continue };
        let place = place(row)?;
        if column(OPERATION, row, "is_acquire")? {
            acquired[place] = Some(outcome_of_call(told, together.requests[place]));
        } else {
            released[place] = end_of_call(&backend.store, told);
        }
    }
    backend.store.news.held();
    Ok(Some((together.completed(backend, requests, acquired).await, released)))
}

/// Which of the requests or ids a row is about.
fn place(row: &Row) -> Result<usize> {
    let number: i64 = column(OPERATION, row, "number")?;
    Ok(usize::try_from(number - 1).expect("numbers begin with 1"))
}
