//! Moves the end of a hold: changes one field of its document if that is still as it was when it was judged.

use leasehold_core::Timestamp;

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
    let mut attempts = backend.attempts(OPERATION);
    loop {
        match attempt(backend, request, &attempts).await {
            Ok(outcome) => return Ok(outcome),
            Err(failure) => attempts.after(failure).await?,
        }
    }
}

/// An earlier attempt that may have been done needs no care here: this one looks again, and either moves the end anew
/// or finds the hold ended.
async fn attempt(
    backend: &FirestoreBackend,
    request: &ExtendRequest,
    attempts: &Attempts,
) -> Result<ExtendOutcome, Failure> {
    if attempts.is_first()
        && let Some(expires_at) = change_unread(backend, request).await?
    {
        return Ok(ExtendOutcome::Extended { expires_at });
    }
    let found = find(backend, OPERATION, &request.lock_id).await?;
    let now = backend.now();
    match judge(&request.lock_id, found, now) {
        Owned::Live { held, mut clearing } => {
            let expires_at = now.saturating_add(request.ttl.as_duration());
            clearing.push(change(&held.name, expiry_fields(expires_at), held.version));
            let version = write(backend, clearing).await?;
            remember(backend, request, Known { key: held.record.key, version, expires_at }, now);
            Ok(ExtendOutcome::Extended { expires_at })
        }
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
    let Some((place, version, known)) = backend.unchanged(&request.lock_id)? else { return Ok(None) };
    let now = backend.now();
    let expires_at = now.saturating_add(request.ttl.as_duration());
    match write(backend, vec![change(&place.lock, expiry_fields(expires_at), version)]).await {
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
