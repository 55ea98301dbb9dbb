//! The decisions of the writer: each on the state the one before it left, in a commit that they share.

use leasehold_core::{LockId, LockRecord, Timestamp};
use leasehold_embedded::Written;
use redb::WriteTransaction;

use super::tables::Tables;
use crate::backend::rules::{self, Decision};
use crate::{AcquireOutcome, AcquireRequest, Error, ExtendOutcome, ExtendRequest, ReleaseOutcome, Result};

/// An answer, or why the request cannot be carried out; on the outside, that the engine failed.
type Decided<T> = Result<Written<Result<T, Error>>, redb::Error>;

pub(super) fn acquire(
    write: &WriteTransaction,
    request: &AcquireRequest,
    now: Timestamp,
) -> Decided<AcquireOutcome> {
    let mut tables = Tables::open(write)?;
    let found = tables.of_key(request.key.as_str())?;
    let of_lock_id = tables.of_lock_id(&request.lock_id)?;
    let last_fence = tables.last_fence(&request.key)?;
    match rules::acquire(request, found.as_ref(), of_lock_id.as_ref(), last_fence, now) {
        Err(refused) => Ok(Written::Nothing(Err(refused))),
        Ok(Decision::Answer(outcome)) => Ok(Written::Nothing(Ok(outcome))),
        Ok(Decision::Write(record)) => {
            tables.put(&record)?;
            Ok(Written::Changed(Ok(AcquireOutcome::Acquired(rules::grant(&record)))))
        }
    }
}

pub(super) fn extend(
    write: &WriteTransaction,
    request: &ExtendRequest,
    now: Timestamp,
) -> Decided<ExtendOutcome> {
    let mut tables = Tables::open(write)?;
    let found = tables.of_lock_id(&request.lock_id)?;
    if let Some(refusal) = rules::refusal(&request.lock_id, found.as_ref(), now) {
        return Ok(Written::Nothing(Ok(ExtendOutcome::Refused(refusal))));
    }
    let expires_at = now.saturating_add(request.ttl.as_duration());
    let held = found.expect("what is not refused was found");
    tables.put(&LockRecord { expires_at, ..held })?;
    Ok(Written::Changed(Ok(ExtendOutcome::Extended { expires_at })))
}

/// The hold that it ended goes with the answer, for those who wait for its key.
pub(super) fn release(
    write: &WriteTransaction,
    lock_id: &LockId,
    now: Timestamp,
) -> Decided<(ReleaseOutcome, Option<LockRecord>)> {
    let mut tables = Tables::open(write)?;
    let found = tables.of_lock_id(lock_id)?;
    if let Some(refusal) = rules::refusal(lock_id, found.as_ref(), now) {
        return Ok(Written::Nothing(Ok((ReleaseOutcome::Refused(refusal), None))));
    }
    let held = found.expect("what is not refused was found");
    tables.remove(&held)?;
    Ok(Written::Changed(Ok((ReleaseOutcome::Released, Some(held)))))
}
