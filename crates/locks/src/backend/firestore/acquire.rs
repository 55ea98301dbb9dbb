//! Takes a key: reads its two documents, decides, and replaces both if neither has changed meanwhile.

use leasehold_core::{Class, Fence, LockCode, LockRecord, Timestamp};
use tokio::sync::Mutex;
use tokio::time::Instant;

use super::FirestoreBackend;
use super::api::{Document, Version, replace};
use super::documents::{Held, count, counter_fields, held, lock_fields};
use super::errors::Failure;
use super::holds::Known;
use super::names::Place;
use super::owned::find;
use crate::backend::rules::{self, Decision};
use crate::{AcquireOutcome, AcquireRequest, Error, Result};

const OPERATION: &str = "acquire";

/// What was read of a key.
struct Found {
    lock: Option<Held>,
    /// The hold of another key that this process was granted under the lock id. Those of other processes are not looked for:
    /// a query more for every acquire, to find what a fresh id cannot have.
    of_lock_id: Option<Held>,
    counter_version: Option<Version>,
    count: u64,
}

pub(super) async fn acquire(backend: &FirestoreBackend, request: &AcquireRequest) -> Result<AcquireOutcome> {
    let place = backend.names.place(&request.key)?;
    if !place.is_nested {
        return take(backend, request, &place).await;
    }
    if !backend.known.has_room(backend.now()) {
        return Err(too_many());
    }
    let answer = take(backend, request, &place).await;
    let is_ours = match &answer {
        Ok(outcome) => matches!(outcome, AcquireOutcome::Acquired(_)),
        Err(error) => error.class() == Class::Indeterminate,
    };
    if !is_ours {
        backend.known.forget_of(&request.lock_id, &request.key);
    }
    answer
}

async fn take(backend: &FirestoreBackend, request: &AcquireRequest, place: &Place) -> Result<AcquireOutcome> {
    let mut attempts = backend.attempts(OPERATION);
    let asked_at = Instant::now();
    // One at a time for a key within this process: at most one of them can win, and Firestore makes writes to one
    // document wait for each other, those that fail too.
    let turn = backend.turns.join(&request.key.key_hash(), Mutex::default);
    let mut turn = attempts.before_deadline(turn.lock()).await?;
    if let Some(refused) = turn.answer(request, asked_at) {
        return Ok(refused);
    }
    let mut first_count = None;
    loop {
        let read_from = Instant::now();
        let found = read(backend, request, place).await;
        let count = found.as_ref().ok().map(|found| found.count);
        let holder = found.as_ref().ok().and_then(|found| Some(found.lock.as_ref()?.record.lock_id));
        first_count = first_count.or(count);
        let outcome = match found {
            Ok(found) => decide(backend, request, place, found).await,
            Err(failure) => Err(failure),
        };
        if let (Ok(outcome @ AcquireOutcome::Held { .. }), Some(holder)) = (&outcome, holder) {
            turn.refused(&request.key, holder, read_from, *outcome);
        }
        let failure = match outcome {
            Ok(outcome) => return Ok(outcome),
            Err(failure) => failure,
        };
        // The counter moves only when somebody takes the key. If it moved while we tried, the key was held while we
        // tried, and that is a true answer.
        let was_held =
            matches!(failure, Failure::Conflict(_)) && !attempts.is_unsure() && count > first_count;
        match attempts.after(failure).await {
            Err(_) if was_held => return Ok(AcquireOutcome::Held { free_in: None }),
            next => next?,
        }
    }
}

async fn read(backend: &FirestoreBackend, request: &AcquireRequest, place: &Place) -> Result<Found, Failure> {
    let [lock, counter] = backend.read_in_time(OPERATION, [&place.lock, &place.counter]).await?;
    let foreign = |_| Failure::foreign(OPERATION, &request.key);
    let of_lock_id = match backend.known.get(&request.lock_id) {
        Some(known) if known.key != request.key => {
            find(backend, OPERATION, &request.lock_id).await?.holds.pop()
        }
        _ => None,
    };
    Ok(Found {
        of_lock_id,
        counter_version: counter.as_ref().and_then(|counter: &Document| counter.update_time),
        count: counter.as_ref().map_or(Ok(0), count).map_err(foreign)?,
        lock: lock.map(held).transpose().map_err(foreign)?,
    })
}

async fn decide(
    backend: &FirestoreBackend,
    request: &AcquireRequest,
    place: &Place,
    found: Found,
) -> Result<AcquireOutcome, Failure> {
    // After the read, and anew for each: an old time would let a hold seem live that has ended since.
    let now = backend.now();
    let [held, of_lock_id] = [&found.lock, &found.of_lock_id].map(|held| Some(&held.as_ref()?.record));
    let decision = rules::acquire(request, held, of_lock_id, last_fence(found.count), now)?;
    let (record, version) = match decision {
        Decision::Answer(AcquireOutcome::Acquired(_)) => {
            let held = found.lock.expect("what is ours was found");
            (held.record, Some(held.version))
        }
        Decision::Answer(refused) => return Ok(refused),
        Decision::Write(record) => {
            if place.is_nested {
                // Its answer may be lost, and no query would find it then.
                remember(backend, place, &record, None, now);
            }
            let version = write(backend, place, &found, &record).await?;
            (record, version)
        }
    };
    remember(backend, place, &record, version, now);
    Ok(AcquireOutcome::Acquired(rules::grant(&record)))
}

fn remember(
    backend: &FirestoreBackend,
    place: &Place,
    record: &LockRecord,
    version: Option<Version>,
    now: Timestamp,
) {
    let (key, name, expires_at) = (record.key.clone(), place.lock.clone(), record.expires_at);
    let known = Known { key, name, version, expires_at };
    backend.known.remember(record.lock_id, known, now, place.is_nested);
}

async fn write(
    backend: &FirestoreBackend,
    place: &Place,
    found: &Found,
    record: &LockRecord,
) -> Result<Option<Version>, Failure> {
    let lock_version = found.lock.as_ref().map(|held| held.version);
    let writes = vec![
        replace(&place.counter, counter_fields(record.fence, &record.key), found.counter_version),
        replace(&place.lock, lock_fields(record), lock_version),
    ];
    Ok(backend.commit(writes).await?.pop().flatten())
}

/// Where the counter stands, as a fence. One that stands beyond the last fence stays beyond it.
fn last_fence(count: u64) -> Option<Fence> {
    Fence::from_counter(count.min(Fence::MAX.as_u64())).ok()
}

/// A nested hold that is not remembered could never be released.
fn too_many() -> Error {
    let source = "this process holds as many keys as it can remember the places of".into();
    Error::Store { operation: OPERATION, lock_code: LockCode::RateLimited, source }
}
