//! The loop around every attempt: who may try again, when, and how long.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Instant;

use crate::classify::{Failed, Meaning};
use crate::metrics::Observed;
use crate::{Error, Failure, Operation, Policy, Result};

/// How one attempt ended, other than well.
pub(crate) enum Ended<E> {
    /// The body's condition does not hold.
    Condition(E),
    /// The transaction failed.
    Failed(Failed),
    /// There was no way to a transaction.
    Error(Error),
}

/// What must be known about an attempt that is no longer waited for.
#[derive(Default)]
pub(crate) struct Progress {
    pub(crate) attempts: AtomicU32,
    /// Something that commits was sent, and not answered yet.
    pub(crate) commit_in_flight: AtomicBool,
}

/// Makes attempts until one ends for good, within the policy.
pub(crate) async fn until_settled<T, E, F>(
    operation: Operation,
    policy: &Policy,
    once: F,
) -> Result<T, Failure<E>>
where
    F: AsyncFn(&Progress) -> Result<T, Ended<E>>,
{
    let observed = Observed::start(operation);
    let progress = Progress::default();
    let result = match policy.deadline() {
        None => attempts(operation, policy, &observed, &progress, once).await,
        Some(deadline) if deadline.is_past(Instant::now()) => {
            Err(Failure::Transaction(Error::DeadlinePassed { operation }))
        }
        Some(deadline) => {
            let work = attempts(operation, policy, &observed, &progress, once);
            tokio::time::timeout_at(deadline.instant().into(), work).await.unwrap_or_else(|_| {
                Err(Failure::Transaction(if progress.commit_in_flight.load(Ordering::Acquire) {
                    Error::UnknownOutcome { operation, source: None }
                } else {
                    Error::DeadlinePassed { operation }
                }))
            })
        }
    };
    match &result {
        Ok(_) => {}
        Err(Failure::Condition(_)) => observed.condition_failed(),
        Err(Failure::Transaction(error)) => observed.failed(error),
    }
    observed.finished(progress.attempts.load(Ordering::Relaxed));
    result
}

async fn attempts<T, E, F>(
    operation: Operation,
    policy: &Policy,
    observed: &Observed,
    progress: &Progress,
    once: F,
) -> Result<T, Failure<E>>
where
    F: AsyncFn(&Progress) -> Result<T, Ended<E>>,
{
    let mut attempt = 1;
    loop {
        progress.attempts.store(attempt, Ordering::Relaxed);
        let failed = match once(progress).await {
            Ok(value) => return Ok(value),
            Err(Ended::Condition(condition)) => return Err(Failure::Condition(condition)),
            Err(Ended::Error(error)) => return Err(Failure::Transaction(error)),
            Err(Ended::Failed(failed)) => failed,
        };
        if failed.meaning != Meaning::Conflict {
            return Err(Failure::Transaction(failed.into_error(operation, attempt)));
        }
        observed.conflict();
        let pause = policy.pause(attempt);
        let in_time = policy.deadline().is_none_or(|deadline| deadline.remaining(Instant::now()) > pause);
        if attempt >= policy.attempts_max() || !in_time {
            return Err(Failure::Transaction(failed.into_error(operation, attempt)));
        }
        observed.retry(failed.source.as_ref(), attempt);
        tokio::time::sleep(pause).await;
        attempt += 1;
    }
}
