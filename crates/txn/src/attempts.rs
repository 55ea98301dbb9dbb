//! The loop around every attempt: who may try again, when, and how long.

use std::future::Future;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Instant;

use crate::classify::{Failed, Meaning};
use crate::metrics::Observed;
use crate::{Error, Failure, Operation, Policy, Pool, Result};

/// How one attempt ended, other than well.
pub(crate) enum Ended<E> {
    /// The body's condition does not hold.
    Condition(E),
    /// The transaction failed.
    Failed(Failed),
    /// There was no way to a transaction.
    Error(Error),
}

/// The attempts of one operation.
pub(crate) struct Attempts<'a> {
    operation: Operation,
    policy: &'a Policy,
    observed: Observed,
    /// Begun so far.
    count: AtomicU32,
    /// Something that commits was sent, and not answered yet: who stops waiting now does not know the outcome.
    pub(crate) commit_in_flight: AtomicBool,
}

impl<'a> Attempts<'a> {
    pub(crate) fn start(operation: Operation, policy: &'a Policy) -> Self {
        Self {
            operation,
            policy,
            observed: Observed::start(operation),
            count: AtomicU32::new(1),
            commit_in_flight: AtomicBool::new(false),
        }
    }

    /// Waits for the loop of attempts, at most until the deadline.
    pub(crate) async fn within_deadline<T, E>(
        &self,
        pool: &Pool,
        work: impl Future<Output = Result<T, Failure<E>>>,
    ) -> Result<T, Failure<E>> {
        let operation = self.operation;
        let result = match self.policy.deadline() {
            None => work.await,
            Some(deadline) if deadline.is_past(Instant::now()) => {
                self.count.store(0, Ordering::Relaxed);
                Err(Failure::Transaction(Error::DeadlinePassed { operation }))
            }
            Some(deadline) => {
                pool.timers().within(deadline.instant().into(), work).await.unwrap_or_else(|| {
                    Err(Failure::Transaction(if self.commit_in_flight.load(Ordering::Acquire) {
                        Error::UnknownOutcome { operation, source: None }
                    } else {
                        Error::DeadlinePassed { operation }
                    }))
                })
            }
        };
        match &result {
            Ok(_) => {}
            Err(Failure::Condition(_)) => self.observed.condition_failed(),
            Err(Failure::Transaction(error)) => self.observed.failed(error),
        }
        self.observed.finished(self.count.load(Ordering::Relaxed));
        result
    }

    /// Pauses before the next attempt, or says why there is none.
    pub(crate) async fn next<E>(&self, ended: Ended<E>) -> Result<(), Failure<E>> {
        let failed = match ended {
            Ended::Condition(condition) => return Err(Failure::Condition(condition)),
            Ended::Error(error) => return Err(Failure::Transaction(error)),
            Ended::Failed(failed) => failed,
        };
        let attempt = self.count.load(Ordering::Relaxed);
        if failed.meaning != Meaning::Conflict {
            return Err(Failure::Transaction(failed.into_error(self.operation, attempt)));
        }
        self.observed.conflict();
        let pause = self.policy.pause(attempt);
        let in_time =
            self.policy.deadline().is_none_or(|deadline| deadline.remaining(Instant::now()) > pause);
        if attempt >= self.policy.attempts_max() || !in_time {
            return Err(Failure::Transaction(failed.into_error(self.operation, attempt)));
        }
        self.observed.retry(failed.source.as_ref(), attempt);
        tokio::time::sleep(pause).await;
        self.count.store(attempt + 1, Ordering::Relaxed);
        Ok(())
    }
}
