//! Ends a hold: deletes its document if that is still as it was when it was judged.

use leasehold_core::LockId;

use super::FirestoreBackend;
use super::api::delete;
use super::attempts::Attempts;
use super::errors::Failure;
use super::owned::{Owned, clear, find, judge};
use crate::{ReleaseOutcome, Result};

const OPERATION: &str = "release";

pub(super) async fn release(backend: &FirestoreBackend, lock_id: &LockId) -> Result<ReleaseOutcome> {
    let mut attempts = backend.attempts(OPERATION);
    loop {
        match attempt(backend, lock_id, &attempts).await {
            Ok(outcome) => {
                backend.known.forget(lock_id);
                return Ok(outcome);
            }
            Err(failure) => attempts.after(failure).await?,
        }
    }
}

async fn attempt(
    backend: &FirestoreBackend,
    lock_id: &LockId,
    attempts: &Attempts,
) -> Result<ReleaseOutcome, Failure> {
    if attempts.is_first() && delete_unread(backend, lock_id).await? {
        return Ok(ReleaseOutcome::Released);
    }
    let found = find(backend, OPERATION, lock_id).await?;
    match judge(lock_id, found, backend.now()) {
        Owned::Live { held, mut clearing } => {
            clearing.push(clear(&held));
            backend.commit(clearing).await?;
            backend.hub.freed(held.record.key.key_hash());
            Ok(ReleaseOutcome::Released)
        }
        // It may be gone because we ended it, or because somebody else did.
        Owned::Refused { .. } if attempts.is_unsure() => Err(Failure::Unresolved),
        Owned::Refused { refusal, clearing } => {
            backend.clear(clearing).await?;
            Ok(ReleaseOutcome::Refused(refusal))
        }
    }
}

/// Whether the hold could be ended without reading it first: it is ours, and the version proves that nothing happened to
/// it since we wrote it.
async fn delete_unread(backend: &FirestoreBackend, lock_id: &LockId) -> Result<bool, Failure> {
    let Some((version, known)) = backend.unchanged(lock_id) else { return Ok(false) };
    match backend.commit(vec![delete(&known.name, version)]).await {
        Ok(_) => {
            backend.hub.freed(known.key.key_hash());
            Ok(true)
        }
        Err(Failure::Conflict(_)) => Ok(false),
        Err(failure) => Err(failure),
    }
}
