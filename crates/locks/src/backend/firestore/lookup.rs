//! Looks at holds without touching them.

use std::time::Duration;

use leasehold_core::{Key, LockRecord, TIME_TOLERANCE, Timestamp, is_live};

use super::FirestoreBackend;
use super::documents::{Held, held};
use super::errors::Failure;
use super::owned::{Owned, clear, find, judge};
use super::skew::Skewed;
use crate::backend::rules;
use crate::{LookupBy, Result};

/// A hold is cleared away only so long after its tolerance: a holder whose clock is slow must not be surprised.
const CLEANUP_GUARD: Duration = Duration::from_millis(1000);

/// The live hold of a key or of a lock id.
pub(super) async fn lookup(backend: &FirestoreBackend, by: LookupBy<'_>) -> Result<Option<LockRecord>> {
    const OPERATION: &str = "lookup";
    let mut attempts = backend.attempts(OPERATION);
    loop {
        let found = match by {
            LookupBy::Key(key) => of_key(backend, OPERATION, key).await.map(|(found, _)| {
                found.map(|held| held.record).filter(|record| rules::live(record, backend.now()))
            }),
            LookupBy::LockId(lock_id) => find(backend, OPERATION, lock_id).await.map(|found| {
                match judge(lock_id, found, backend.now()) {
                    Owned::Live { held, .. } => Some(held.record),
                    Owned::Refused { .. } => None,
                }
            }),
        };
        match found {
            Ok(found) => return Ok(found),
            Err(failure) => attempts.after(failure).await?,
        }
    }
}

/// Whether a key is held; clears away a hold that ended long ago, if so configured.
pub(super) async fn is_locked(backend: &FirestoreBackend, key: &Key) -> Result<bool> {
    const OPERATION: &str = "is_locked";
    let mut attempts = backend.attempts(OPERATION);
    loop {
        match of_key(backend, OPERATION, key).await {
            Ok((None, _)) => return Ok(false),
            Ok((Some(held), measured)) => {
                let now = backend.now();
                // To a clock that is off a live hold may have ended long ago.
                if backend.cleanup_in_is_locked && measured.is_ok() && is_long_ended(&held, now) {
                    clean_up(backend, &held).await;
                }
                return Ok(rules::live(&held.record, now));
            }
            Err(failure) => attempts.after(failure).await?,
        }
    }
}

async fn of_key(
    backend: &FirestoreBackend,
    operation: &'static str,
    key: &Key,
) -> Result<(Option<Held>, Result<(), Skewed>), Failure> {
    let place = backend.names.place(key)?;
    let ([found], measured) = backend.read_and_measure([&place.lock]).await?;
    let found = found.map(held).transpose().map_err(|_| Failure::foreign(operation, key))?;
    Ok((found, measured))
}

fn is_long_ended(held: &Held, now: Timestamp) -> bool {
    !is_live(held.record.expires_at, now, TIME_TOLERANCE + CLEANUP_GUARD)
}

/// A courtesy: it takes what was read and nothing newer, and nobody waits for its success.
async fn clean_up(backend: &FirestoreBackend, held: &Held) {
    if let Err(failure) = backend.commit(vec![clear(held)]).await {
        let (key_hash, error) = (held.record.key.key_hash(), failure.into_error("is_locked", None));
        tracing::debug!(%key_hash, code = error.code(), "an ended hold was not cleared away");
    }
}
