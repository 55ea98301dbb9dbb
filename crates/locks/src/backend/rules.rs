//! The contract as pure functions, for the backends that read, decide and write within one atomic step of their own.

use leasehold_core::{Conditions, Fence, LockId, LockRecord, Refusal, TIME_TOLERANCE, Timestamp, is_live};

use crate::{AcquireOutcome, AcquireRequest, Error, Grant, Result};

/// What acquire does to the key.
#[derive(Debug)]
pub(crate) enum Decision {
    /// Nothing: the answer is this.
    Answer(AcquireOutcome),
    /// Writes the record, its fence as the key's last one, and answers with its grant.
    Write(LockRecord),
}

/// Decides on an acquire from the hold that was found, the hold that the lock id stands for, and the last fence of the key.
/// Whoever writes the decision also forgets what the id stood for before: that hold has ended, and one id leads to one hold.
pub(crate) fn acquire(
    request: &AcquireRequest,
    found: Option<&LockRecord>,
    of_lock_id: Option<&LockRecord>,
    last_fence: Option<Fence>,
    now: Timestamp,
) -> Result<Decision> {
    if let Some(held) = found.filter(|held| live(held, now)) {
        return Ok(Decision::Answer(match held.lock_id == request.lock_id {
            true => AcquireOutcome::Acquired(grant(held)),
            false => AcquireOutcome::Held { free_in: Some(free_at(held).saturating_since(now)) },
        }));
    }
    let fence = last_fence.map_or(Ok(Fence::FIRST), Fence::next)?;
    if of_lock_id.is_some_and(|held| held.lock_id == request.lock_id && live(held, now)) {
        return Err(Error::LockIdInUse { lock_id_hash: request.lock_id.lock_id_hash() });
    }
    Ok(Decision::Write(LockRecord {
        key: request.key.clone(),
        lock_id: request.lock_id,
        expires_at: now.saturating_add(request.ttl.as_duration()),
        acquired_at: now,
        fence,
    }))
}

/// Why the hold that was found under a lock id may not be extended or released; `None` if it may.
pub(crate) fn refusal(lock_id: &LockId, found: Option<&LockRecord>, now: Timestamp) -> Option<Refusal> {
    Refusal::under(Conditions {
        exists: found.is_some(),
        owned: found.is_some_and(|held| held.lock_id == *lock_id),
        live: found.is_some_and(|held| live(held, now)),
    })
}

/// Whether the hold keeps others out.
pub(crate) fn live(held: &LockRecord, now: Timestamp) -> bool {
    is_live(held.expires_at, now, TIME_TOLERANCE)
}

/// When the hold stops keeping others out.
pub(crate) fn free_at(held: &LockRecord) -> Timestamp {
    held.expires_at.saturating_add(TIME_TOLERANCE)
}

/// The grant of a hold.
pub(crate) fn grant(held: &LockRecord) -> Grant {
    Grant { lock_id: held.lock_id, fence: held.fence, expires_at: held.expires_at }
}
