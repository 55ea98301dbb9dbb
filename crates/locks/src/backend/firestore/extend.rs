//! Moves the end of a hold: changes one field of its document if that is still as it was when it was judged.

use leasehold_core::{Refusal, Timestamp};

use super::FirestoreBackend;
use super::api::{Version, Write, change};
use super::attempts::Attempts;
use super::documents::expiry_fields;
use super::errors::Failure;
use super::holds::Known;
use super::owned::{Owned, find, judge};
use crate::{ExtendOutcome, ExtendRequest, Result};

const OPERATION: &str = "extend";

pub(super) async fn extend(backend: &FirestoreBackend, request: &ExtendRequest) -> Result<ExtendOutcome> {
    let suspect = backend.client.suspect();
    let outcome = attempted(backend, request).await;
    suspect.answered();
    outcome
}

async fn attempted(backend: &FirestoreBackend, request: &ExtendRequest) -> Result<ExtendOutcome> {
    let mut attempts = backend.attempts(OPERATION);
    loop {
        match attempt(backend, request, &attempts).await {
            Ok(outcome) => return Ok(outcome),
            Err(failure) => attempts.after(failure).await?,
        }
    }
}

/// An earlier attempt that may have been done needs no care as long as the hold lives: this one looks again, and moves the end
/// anew.
async fn attempt(
    backend: &FirestoreBackend,
    request: &ExtendRequest,
    attempts: &Attempts,
) -> Result<ExtendOutcome, Failure> {
    if attempts.is_first()
        && backend.is_clock_steady()
        && let Some(expires_at) = change_unread(backend, request).await?
    {
        return Ok(ExtendOutcome::Extended { expires_at });
    }
    // An end that is counted by a clock that is off is not when others see it.
    let found = find(backend, OPERATION, &request.lock_id).await?.in_time(OPERATION)?;
    let now = backend.now();
    match judge(&request.lock_id, found, now) {
        Owned::Live { held, mut clearing } => {
            let expires_at = now.saturating_add(request.ttl.as_duration());
            clearing.push(change(&held.name, expiry_fields(expires_at), held.version));
            let version = write(backend, clearing).await?;
            let known = Known { key: held.record.key, name: held.name, version, expires_at };
            remember(backend, request, known, now);
            Ok(ExtendOutcome::Extended { expires_at })
        }
        // What was read has ended, but an earlier attempt may still come and move that end.
        Owned::Refused { refusal: Refusal::Expired, .. } if attempts.is_unsure() => Err(Failure::Unresolved),
        Owned::Refused { refusal, clearing } => {
            backend.clear(clearing).await?;
            backend.known.forget(&request.lock_id);
            Ok(ExtendOutcome::Refused(refusal))
        }
    }
}

/// The new end, if the hold could be extended without reading it first: it is ours, and the version proves that nothing
/// happened to it since we wrote it.
async fn change_unread(
    backend: &FirestoreBackend,
    request: &ExtendRequest,
) -> Result<Option<Timestamp>, Failure> {
    let Some((version, known)) = backend.unchanged(&request.lock_id) else { return Ok(None) };
    let now = backend.now();
    let expires_at = now.saturating_add(request.ttl.as_duration());
    match write(backend, vec![change(&known.name, expiry_fields(expires_at), version)]).await {
        Ok(version) => {
            remember(backend, request, Known { version, expires_at, ..known }, now);
            Ok(Some(expires_at))
        }
        Err(Failure::Conflict(_)) => Ok(None),
        Err(failure) => Err(failure),
    }
}

/// The new version of the document that is written last.
async fn write(backend: &FirestoreBackend, writes: Vec<Write>) -> Result<Option<Version>, Failure> {
    Ok(backend.commit(writes).await?.pop().flatten())
}

fn remember(backend: &FirestoreBackend, request: &ExtendRequest, known: Known, now: Timestamp) {
    backend.known.remember(request.lock_id, known, now, false);
}
