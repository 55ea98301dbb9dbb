//! What one turn of a worker does.

use std::collections::HashSet;
use std::sync::Arc;

use leasehold_core::LockId;
use tokio::sync::oneshot;

use super::fate::{concerns_one, repeated};
use super::request::Request;
use super::under_way::UnderWay;
use super::worker::Job;
use crate::backend::postgres::{PostgresBackend, turn};
use crate::{AcquireOutcome, AcquireRequest, Error, ReleaseOutcome, Result};

type Answer<T> = oneshot::Sender<Result<T>>;

#[derive(Debug, Default)]
pub(super) struct Batch {
    acquires: Vec<AcquireRequest>,
    acquirers: Vec<Answer<AcquireOutcome>>,
    releases: Vec<LockId>,
    releasers: Vec<Answer<ReleaseOutcome>>,
}

impl Batch {
    /// The jobs that can be done together, which are under way from now on, and those that must wait for the answer to
    /// another. What its caller has left is not sent at all.
    pub(super) fn of(jobs: Vec<Job>, under_way: &mut UnderWay) -> (Self, Vec<Job>) {
        let (mut batch, mut deferred) = (Batch::default(), Vec::new());
        // Those that wait hold up what comes after them.
        let mut ahead = HashSet::new();
        for job in jobs {
            match job {
                // Nobody reads the answer, and a grant would be nobody's.
                Job::Acquire { answer, .. } if answer.is_closed() => {}
                Job::Release { lock_id, .. } if ahead.contains(&lock_id) => deferred.push(job),
                job if under_way.holds_up(&job) => {
                    if let Job::Acquire { request, .. } = &job {
                        ahead.insert(request.lock_id);
                    }
                    deferred.push(job);
                }
                Job::Acquire { ticket, answer, .. } if !ticket.send() => {
                    let _ = answer.send(Err(Error::not_sent(AcquireRequest::OPERATION)));
                }
                Job::Release { ticket, answer, .. } if !ticket.send() => {
                    let _ = answer.send(Err(Error::not_sent(LockId::OPERATION)));
                }
                Job::Acquire { request, answer, .. } => {
                    under_way.begin(&request);
                    batch.acquires.push(request);
                    batch.acquirers.push(answer);
                }
                Job::Release { lock_id, answer, .. } => {
                    batch.releases.push(lock_id);
                    batch.releasers.push(answer);
                }
            }
        }
        (batch, deferred)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.acquires.is_empty() && self.releases.is_empty()
    }

    /// Answers everyone, and returns what it tried to acquire.
    pub(super) async fn run(self, backend: &PostgresBackend) -> Vec<AcquireRequest> {
        let mut way = Way::Together;
        if turn::fits(&self.acquires, &self.releases) {
            match turn::take(backend, &self.acquires, &self.releases).await {
                Ok(Some((acquired, released))) => {
                    answer(self.acquirers, acquired);
                    answer(self.releasers, released);
                    return self.acquires;
                }
                // The schema has no functions.
                Ok(None) => {}
                Err(error) => way = Way::after(error),
            }
        }
        tokio::join!(
            settle(backend, &self.acquires, self.acquirers, way.clone()),
            settle(backend, &self.releases, self.releasers, way)
        );
        self.acquires
    }
}

/// How the requests of a batch are to be answered.
#[derive(Clone)]
enum Way {
    Together,
    OneByOne,
    /// All with this failure.
    Failed(Arc<Error>),
}

impl Way {
    fn after(error: Error) -> Self {
        if concerns_one(&error) { Way::OneByOne } else { Way::Failed(Arc::new(error)) }
    }
}

/// Answers all requests of one kind.
async fn settle<R: Request>(
    backend: &PostgresBackend,
    requests: &[R],
    answers: Vec<Answer<R::Outcome>>,
    mut way: Way,
) {
    if matches!(way, Way::Together) && requests.len() > 1 {
        match R::ask_many(requests, backend).await {
            Ok(outcomes) => return answer(answers, outcomes),
            Err(error) => way = Way::after(error),
        }
    }
    for (request, answer) in requests.iter().zip(answers) {
        let _ = answer.send(match &way {
            Way::Failed(error) => Err(repeated(R::OPERATION, error)),
            Way::Together | Way::OneByOne => request.ask(backend).await,
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
    use crate::ticket::Ticket;

    fn job(key: &str) -> (Job, oneshot::Receiver<Result<AcquireOutcome>>) {
        let (answer, answered) = oneshot::channel();
        let key = Key::parse(key).expect("a key");
        let lock_id = LockId::generate().expect("random bytes");
        let request = AcquireRequest { key, lock_id, ttl: Ttl::DEFAULT };
        (Job::Acquire { request, ticket: Ticket::current(), answer }, answered)
    }

    /// The release of what the job acquires.
    fn release_of(job: &Job) -> (Job, oneshot::Receiver<Result<ReleaseOutcome>>) {
        let Job::Acquire { request, .. } = job else { panic!("is an acquire") };
        let (answer, answered) = oneshot::channel();
        (Job::Release { lock_id: request.lock_id, ticket: Ticket::current(), answer }, answered)
    }

    #[test]
    fn second_request_for_a_key_waits_for_the_answer_to_the_first() {
        let ((one, _a), (two, _b), (other, _c)) = (job("a"), job("a"), job("b"));
        let under_way = &mut UnderWay::default();
        let (batch, deferred) = Batch::of(vec![one, two, other], under_way);
        assert_eq!((batch.acquires.len(), deferred.len()), (2, 1));
        let (next, deferred) = Batch::of(deferred, under_way);
        assert_eq!((next.is_empty(), deferred.len()), (true, 1), "the first is still under way");
        for request in &batch.acquires {
            under_way.end(request);
        }
        let (next, deferred) = Batch::of(deferred, under_way);
        assert_eq!((next.acquires.len(), deferred.len()), (1, 0));
    }

    #[test]
    fn release_waits_for_the_acquire_before_it() {
        let (acquire, _acquired) = job("a");
        let (release, _released) = release_of(&acquire);
        let under_way = &mut UnderWay::default();
        let (batch, deferred) = Batch::of(vec![acquire, release], under_way);
        assert_eq!((batch.acquires.len(), batch.releases.len(), deferred.len()), (1, 0, 1));
        let (batch, deferred) = Batch::of(deferred, under_way);
        assert_eq!((batch.is_empty(), deferred.len()), (true, 1), "in later turns too");
    }

    #[test]
    fn release_waits_for_an_acquire_that_waits_itself() {
        let ((first, _a), (second, _b)) = (job("a"), job("a"));
        let (release, _released) = release_of(&second);
        let (batch, deferred) = Batch::of(vec![first, second, release], &mut UnderWay::default());
        assert_eq!((batch.acquires.len(), batch.releases.len(), deferred.len()), (1, 0, 2));
    }

    #[test]
    fn request_that_was_left_is_not_sent_and_answered_so() {
        let (job, mut answered) = job("a");
        let Job::Acquire { ticket, .. } = &job else { panic!("is an acquire") };
        assert!(ticket.leave());
        let (batch, deferred) = Batch::of(vec![job], &mut UnderWay::default());
        assert!(batch.is_empty() && deferred.is_empty());
        let answer = answered.try_recv().expect("an answer");
        assert_eq!(answer.expect_err("was not sent").code(), "lock.aborted");
    }

    #[test]
    fn request_whose_answer_nobody_reads_is_not_sent() {
        let (job, answered) = job("a");
        drop(answered);
        let (batch, deferred) = Batch::of(vec![job], &mut UnderWay::default());
        assert!(batch.is_empty() && deferred.is_empty());
    }
}
