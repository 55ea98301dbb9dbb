//! What one turn of a worker does.

use std::collections::HashSet;
use std::sync::Arc;

use leasehold_core::LockId;
use tokio::sync::oneshot;

use super::fate::{concerns_one, repeated};
use super::worker::Job;
use crate::backend::LockBackend;
use crate::backend::postgres::PostgresBackend;
use crate::{AcquireOutcome, AcquireRequest, ReleaseOutcome, Result};

type Answer<T> = oneshot::Sender<Result<T>>;

#[derive(Debug, Default)]
pub(super) struct Batch {
    acquires: Vec<AcquireRequest>,
    acquirers: Vec<Answer<AcquireOutcome>>,
    releases: Vec<LockId>,
    releasers: Vec<Answer<ReleaseOutcome>>,
}

impl Batch {
    /// The jobs that can be done together, and those that must wait for the next turn: a statement cannot hold one key
    /// twice, and a release must not overtake its own acquire, which a caller that gave up leaves behind. An acquire whose
    /// caller is gone is not sent at all.
    pub(super) fn of(jobs: Vec<Job>) -> (Self, Vec<Job>) {
        let (mut batch, mut deferred) = (Batch::default(), Vec::new());
        let (mut keys, mut acquiring) = (HashSet::new(), HashSet::new());
        for job in jobs {
            match job {
                Job::Acquire { answer, .. } if answer.is_closed() => {}
                Job::Acquire { request, answer } if keys.insert(request.key.clone()) => {
                    acquiring.insert(request.lock_id);
                    batch.acquires.push(request);
                    batch.acquirers.push(answer);
                }
                Job::Acquire { ref request, .. } => {
                    acquiring.insert(request.lock_id);
                    deferred.push(job);
                }
                Job::Release { lock_id, .. } if acquiring.contains(&lock_id) => deferred.push(job),
                Job::Release { lock_id, answer } => {
                    batch.releases.push(lock_id);
                    batch.releasers.push(answer);
                }
            }
        }
        (batch, deferred)
    }

    pub(super) async fn run(self, backend: &PostgresBackend) {
        tokio::join!(
            acquire(backend, &self.acquires, self.acquirers),
            release(backend, &self.releases, self.releasers)
        );
    }
}

async fn acquire(
    backend: &PostgresBackend,
    requests: &[AcquireRequest],
    answers: Vec<Answer<AcquireOutcome>>,
) {
    let failure = match requests.len() {
        0 => return,
        1 => None,
        _ => match backend.acquire_many(requests).await {
            Ok(outcomes) => return answer(answers, outcomes),
            Err(error) if concerns_one(&error) => None,
            Err(error) => Some(Arc::new(error)),
        },
    };
    for (request, answer) in requests.iter().zip(answers) {
        let _ = answer.send(match &failure {
            Some(error) => Err(repeated(error)),
            None => backend.acquire(request).await,
        });
    }
}

async fn release(backend: &PostgresBackend, lock_ids: &[LockId], answers: Vec<Answer<ReleaseOutcome>>) {
    let failure = match lock_ids.len() {
        0 => return,
        1 => None,
        _ => match backend.release_many(lock_ids).await {
            Ok(outcomes) => return answer(answers, outcomes),
            Err(error) if concerns_one(&error) => None,
            Err(error) => Some(Arc::new(error)),
        },
    };
    for (lock_id, answer) in lock_ids.iter().zip(answers) {
        let _ = answer.send(match &failure {
            Some(error) => Err(repeated(error)),
            None => backend.release(lock_id).await,
        });
    }
}

/// Callers that are gone do not mind.
fn answer<T>(answers: Vec<Answer<T>>, outcomes: Vec<Result<T>>) {
    for (answer, outcome) in answers.into_iter().zip(outcomes) {
        let _ = answer.send(outcome);
    }
}

#[cfg(test)]
mod tests {
    use leasehold_core::{Key, Ttl};

    use super::*;

    fn job(key: &str) -> (Job, oneshot::Receiver<Result<AcquireOutcome>>) {
        let (answer, answered) = oneshot::channel();
        let key = Key::parse(key).expect("a key");
        let lock_id = LockId::generate().expect("random bytes");
        (Job::Acquire { request: AcquireRequest { key, lock_id, ttl: Ttl::DEFAULT }, answer }, answered)
    }

    #[test]
    fn second_request_for_a_key_waits_for_the_next_turn() {
        let ((one, _a), (two, _b), (other, _c)) = (job("a"), job("a"), job("b"));
        let (batch, deferred) = Batch::of(vec![one, two, other]);
        assert_eq!((batch.acquires.len(), deferred.len()), (2, 1));
    }

    #[test]
    fn release_waits_for_the_acquire_before_it() {
        let (acquire, _acquired) = job("a");
        let Job::Acquire { request, .. } = &acquire else { panic!("is an acquire") };
        let (answer, _released) = oneshot::channel();
        let release = Job::Release { lock_id: request.lock_id, answer };
        let (batch, deferred) = Batch::of(vec![acquire, release]);
        assert_eq!((batch.acquires.len(), batch.releases.len(), deferred.len()), (1, 0, 1));
    }

    #[test]
    fn request_of_a_caller_that_left_is_not_sent() {
        let (job, answered) = job("a");
        drop(answered);
        let (batch, deferred) = Batch::of(vec![job]);
        assert!(batch.acquires.is_empty() && deferred.is_empty());
    }
}
