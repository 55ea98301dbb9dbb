//! Many callers, few statements: what a location opens, and what a server puts in front of the backend.

mod batch;
mod callers;
mod fate;
mod request;
mod under_way;
mod worker;

use std::sync::Arc;

use async_trait::async_trait;
use leasehold_core::{Key, LockCode, LockId, LockRecord, Transport};
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{mpsc, oneshot};
use tokio_util::task::TaskTracker;

use self::callers::Callers;
use self::worker::{Job, Worker};
use super::PostgresBackend;
use crate::backend::{Capabilities, LockBackend};
use crate::ticket::Ticket;
use crate::{
    AcquireOutcome, AcquireRequest, Error, ExtendOutcome, ExtendRequest, ListRequest, LookupBy,
    ReleaseOutcome, Result, Watch,
};

/// How requests are fused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FusedConfig {
    /// The most new requests in one turn.
    pub batch_len_max: usize,
    /// The most requests that wait for a turn; beyond it callers are refused.
    pub waiting_len_max: usize,
    /// The most turns under way at once. There is one unless the database keeps it waiting, so that one row that somebody
    /// has locked does not hold up all the others. Each uses at most two connections of the pool.
    pub turns_max: usize,
}

impl Default for FusedConfig {
    fn default() -> Self {
        FusedConfig { batch_len_max: 128, waiting_len_max: 4_096, turns_max: 4 }
    }
}

/// Acquires of different keys and releases travel together: a few in one statement, many in one for each kind. A turn takes
/// what waits, and nothing more. Who asks while nobody else does goes straight to the
/// backend, and so does everything else, and everyone once the runtime that this was made on is gone.
#[derive(Debug)]
pub struct FusedBackend {
    backend: Arc<PostgresBackend>,
    callers: Callers,
    jobs: mpsc::Sender<Job>,
    worker: TaskTracker,
}

impl FusedBackend {
    /// Starts a task on the current runtime; it ends when this is dropped and what waits is done.
    pub fn new(backend: Arc<PostgresBackend>, config: FusedConfig) -> Self {
        let (jobs, mailbox) = mpsc::channel(config.waiting_len_max.max(1));
        let worker = TaskTracker::new();
        worker.spawn(Worker::new(backend.clone(), mailbox, config).run());
        worker.close();
        FusedBackend { backend, callers: Callers::default(), jobs, worker }
    }

    /// Waits until what was asked for is done. Dropping the future leaves it to be done all the same.
    pub async fn close(self) {
        drop(self.jobs);
        self.worker.wait().await;
    }

    /// Hands a job over; its answer comes on the channel that `job` is given, in the time that one operation may take or not
    /// at all.
    async fn ask<T>(
        &self,
        operation: &'static str,
        ticket: &Ticket,
        job: impl FnOnce(oneshot::Sender<Result<T>>) -> Job,
    ) -> Result<T> {
        let (answer, answered) = oneshot::channel();
        self.jobs.try_send(job(answer)).map_err(|error| {
            let (lock_code, source) = match error {
                TrySendError::Full(_) => (LockCode::RateLimited, "too many requests wait for the database"),
                TrySendError::Closed(_) => {
                    (LockCode::ServiceUnavailable, "the runtime that the backend was opened on is gone")
                }
            };
            Error::Store { operation, lock_code, source: source.into() }
        })?;
        match tokio::time::timeout(self.backend.store.timeout, answered).await {
            // A turn is only lost with its runtime; what it had sent is then unknown.
            Ok(answer) => answer.map_err(|lost| Error::Indeterminate { operation, source: lost.into() })?,
            Err(late) if ticket.leave() => {
                let lock_code = LockCode::from_transport(Transport::Timeout);
                Err(Error::Store { operation, lock_code, source: late.into() })
            }
            Err(late) => Err(Error::Indeterminate { operation, source: late.into() }),
        }
    }
}

#[async_trait]
impl LockBackend for FusedBackend {
    async fn acquire(&self, request: &AcquireRequest) -> Result<AcquireOutcome> {
        let caller = self.callers.enter();
        if caller.is_alone || self.jobs.is_closed() {
            return self.backend.acquire(request).await;
        }
        let request = request.clone();
        let ticket = Ticket::current();
        self.ask("acquire", &ticket, |answer| Job::Acquire { request, ticket: ticket.clone(), answer }).await
    }

    async fn extend(&self, request: &ExtendRequest) -> Result<ExtendOutcome> {
        self.backend.extend(request).await
    }

    async fn release(&self, lock_id: &LockId) -> Result<ReleaseOutcome> {
        let caller = self.callers.enter();
        if caller.is_alone || self.jobs.is_closed() {
            return self.backend.release(lock_id).await;
        }
        let lock_id = *lock_id;
        let ticket = Ticket::current();
        self.ask("release", &ticket, |answer| Job::Release { lock_id, ticket: ticket.clone(), answer }).await
    }

    async fn is_locked(&self, key: &Key) -> Result<bool> {
        self.backend.is_locked(key).await
    }

    async fn lookup(&self, by: LookupBy<'_>) -> Result<Option<LockRecord>> {
        self.backend.lookup(by).await
    }

    async fn list(&self, request: &ListRequest) -> Result<Vec<LockRecord>> {
        self.backend.list(request).await
    }

    async fn watch(&self, key: &Key) -> Watch {
        self.backend.watch(key).await
    }

    fn capabilities(&self) -> Capabilities {
        self.backend.capabilities()
    }
}
