//! Many callers, few statements: what a server with many clients puts in front of the backend.

mod batch;
mod fate;
mod worker;

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use async_trait::async_trait;
use leasehold_core::{Key, LockCode, LockId, LockRecord};
use tokio::sync::{mpsc, oneshot};
use tokio_util::task::TaskTracker;

use self::worker::{Job, Worker};
use super::PostgresBackend;
use crate::backend::{Capabilities, LockBackend};
use crate::{
    AcquireOutcome, AcquireRequest, Error, ExtendOutcome, ExtendRequest, ListRequest, LookupBy,
    ReleaseOutcome, Result, Watch,
};

/// How requests are fused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FusedConfig {
    /// The most requests in one statement.
    pub batch_len_max: usize,
    /// The most requests that wait for one worker; beyond it callers are refused.
    pub waiting_len_max: usize,
    /// Batches under way at once. Each uses at most two connections of the pool.
    pub workers: usize,
}

impl Default for FusedConfig {
    fn default() -> Self {
        FusedConfig { batch_len_max: 128, waiting_len_max: 4_096, workers: 2 }
    }
}

/// Acquires of different keys travel in one statement, releases in another. A lone request is not delayed: a worker
/// takes what waits, and nothing more. Everything else goes straight to the backend.
#[derive(Debug)]
pub struct FusedBackend {
    backend: Arc<PostgresBackend>,
    /// One per worker. A lock id always goes to the same: the release that follows a given-up acquire must not overtake it.
    mailboxes: Vec<mpsc::Sender<Job>>,
    hasher: RandomState,
    workers: TaskTracker,
}

impl FusedBackend {
    /// Starts the workers on the current runtime; they end when this is dropped and what waits is done.
    pub fn new(backend: Arc<PostgresBackend>, config: FusedConfig) -> Self {
        let (mut mailboxes, workers) = (Vec::new(), TaskTracker::new());
        for _ in 0..config.workers.max(1) {
            let (jobs, mailbox) = mpsc::channel(config.waiting_len_max.max(1));
            let batch_len_max = config.batch_len_max.max(1);
            workers.spawn(Worker { backend: backend.clone(), mailbox, batch_len_max }.run());
            mailboxes.push(jobs);
        }
        workers.close();
        FusedBackend { backend, mailboxes, hasher: RandomState::new(), workers }
    }

    /// Ends the workers once what waits is done, and waits for them. Dropping the future leaves them to end by
    /// themselves.
    pub async fn close(self) {
        drop(self.mailboxes);
        self.workers.wait().await;
    }

    /// Hands a job over; its answer comes on the channel that `job` is given.
    async fn ask<T>(
        &self,
        operation: &'static str,
        lock_id: &LockId,
        job: impl FnOnce(oneshot::Sender<Result<T>>) -> Job,
    ) -> Result<T> {
        let (answer, answered) = oneshot::channel();
        let worker = self.hasher.hash_one(lock_id) % self.mailboxes.len() as u64;
        self.mailboxes[worker as usize].try_send(job(answer)).map_err(|_full| Error::Store {
            operation,
            lock_code: LockCode::RateLimited,
            source: "too many requests wait for the database".into(),
        })?;
        // A worker is only lost with its runtime; what it had sent is then unknown.
        answered.await.map_err(|lost| Error::Indeterminate { operation, source: lost.into() })?
    }
}

#[async_trait]
impl LockBackend for FusedBackend {
    async fn acquire(&self, request: &AcquireRequest) -> Result<AcquireOutcome> {
        let (lock_id, request) = (request.lock_id, request.clone());
        self.ask("acquire", &lock_id, |answer| Job::Acquire { request, answer }).await
    }

    async fn extend(&self, request: &ExtendRequest) -> Result<ExtendOutcome> {
        self.backend.extend(request).await
    }

    async fn release(&self, lock_id: &LockId) -> Result<ReleaseOutcome> {
        let lock_id = *lock_id;
        self.ask("release", &lock_id, |answer| Job::Release { lock_id, answer }).await
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
