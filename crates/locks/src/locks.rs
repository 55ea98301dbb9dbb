use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use leasehold_core::{Key, LockId, Ttl};
use tokio_util::sync::CancellationToken;

use crate::backend::Capabilities;
use crate::ticket::Ticket;
use crate::turns::Turns;
use crate::{
    AcquireOptions, Error, ExtendOutcome, ExtendRequest, Guard, LockBackend, OnReleaseError, ReleaseOutcome,
    Result, acquire,
};

/// The locks of one backend. Cheap to clone; clones share the line of waiters.
#[derive(Debug, Clone)]
pub struct Locks {
    shared: Arc<Shared>,
    cancel: Option<CancellationToken>,
}

#[derive(Debug)]
struct Shared {
    backend: Arc<dyn LockBackend>,
    config: Config,
    turns: Turns,
}

/// How guards give their locks back.
#[derive(Debug, Clone, Default)]
pub struct Config {
    /// How long `dispose` waits for the store. After it the release goes on in the background.
    pub release_timeout: Option<Duration>,
    /// Whether `dispose` reports that it stopped waiting, as a `NetworkTimeout`.
    pub report_release_timeout: bool,
    /// Told of releases that failed while nobody awaited them.
    pub on_release_error: OnReleaseError,
}

impl Locks {
    /// With the default [`Config`].
    pub fn new(backend: impl LockBackend) -> Self {
        Locks::with_config(Arc::new(backend), Config::default())
    }

    /// Over a backend that may be shared with others.
    pub fn with_config(backend: Arc<dyn LockBackend>, config: Config) -> Self {
        Locks { shared: Arc::new(Shared { backend, config, turns: Turns::default() }), cancel: None }
    }

    /// The same locks, whose operations end with [`Error::Aborted`] once the token is cancelled. The outcome of a release or an
    /// extension that was sent before is unknown. Guards that were
    /// given out before and after are not touched by it: a cancelled caller must still be able to release.
    pub fn cancelled_by(&self, cancel: CancellationToken) -> Self {
        Locks { shared: self.shared.clone(), cancel: Some(cancel) }
    }

    /// Waits for the key until it is free or the timeout of the options has passed, which is
    /// [`Error::AcquisitionTimeout`]. Waiters of one process are served in order.
    ///
    /// Dropping the future leaves the line; a request already sent is released in the background if it succeeds,
    /// and at the latest the ttl ends it.
    pub async fn acquire(&self, key: &Key, options: &AcquireOptions) -> Result<Guard> {
        self.abortable("acquire", acquire::wait_for(&self.uncancelled(), key, options)).await
    }

    /// Asks once; `None` if the key is held. Dropping the future is as for [`Locks::acquire`].
    pub async fn try_acquire(&self, key: &Key, ttl: Ttl) -> Result<Option<Guard>> {
        self.abortable("acquire", acquire::once(&self.uncancelled(), key, ttl)).await
    }

    /// Runs the work while holding the key, and releases it whatever the work returns. Failing to release is
    /// reported to `on_release_error` and never hides what the work returned.
    ///
    /// Dropping the future drops the work and releases in the background.
    pub async fn lock<T>(
        &self,
        key: &Key,
        options: &AcquireOptions,
        work: impl AsyncFnOnce(&Guard) -> T,
    ) -> Result<T> {
        let guard = self.acquire(key, options).await?;
        let value = work(&guard).await;
        guard.dispose().await;
        Ok(value)
    }

    /// Ends the live hold with this id. Dropping the future midway leaves it ended or not.
    pub async fn release(&self, lock_id: &LockId) -> Result<ReleaseOutcome> {
        self.abortable_write("release", self.backend().release(lock_id)).await
    }

    /// Makes the live hold last `ttl` from now. Dropping the future midway leaves it extended or not.
    pub async fn extend(&self, lock_id: &LockId, ttl: Ttl) -> Result<ExtendOutcome> {
        let request = ExtendRequest { lock_id: *lock_id, ttl };
        self.abortable_write("extend", self.backend().extend(&request)).await
    }

    /// Whether somebody holds the key now.
    pub async fn is_locked(&self, key: &Key) -> Result<bool> {
        self.abortable("is_locked", self.backend().is_locked(key)).await
    }

    /// How the store differs from others.
    pub fn capabilities(&self) -> Capabilities {
        self.backend().capabilities()
    }

    /// The backend itself.
    pub fn backend(&self) -> &dyn LockBackend {
        &*self.shared.backend
    }

    pub(crate) fn config(&self) -> &Config {
        &self.shared.config
    }

    pub(crate) fn turns(&self) -> &Turns {
        &self.shared.turns
    }

    /// What guards keep: the caller's cancellation must not keep them from releasing.
    pub(crate) fn uncancelled(&self) -> Self {
        Locks { shared: self.shared.clone(), cancel: None }
    }

    /// Ends the operation when the caller's token is cancelled; one cancelled before does no I/O at all.
    pub(crate) async fn abortable<T>(
        &self,
        operation: &'static str,
        work: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        let Some(cancel) = &self.cancel else { return work.await };
        tokio::select! {
            biased;
            () = cancel.cancelled() => Err(Error::not_sent(operation)),
            done = work => done,
        }
    }

    /// [`Locks::abortable`] for an operation that is not undone: once it has begun, its outcome is unknown unless its backend
    /// knows that it was not sent.
    async fn abortable_write<T>(
        &self,
        operation: &'static str,
        work: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        let Some(cancel) = &self.cancel else { return work.await };
        let ticket = Ticket::default();
        let mut has_begun = false;
        tokio::select! {
            biased;
            () = cancel.cancelled() => {
                Err(Error::Aborted { operation, is_unknown: has_begun && !ticket.leave() })
            }
            done = async {
                has_begun = true;
                ticket.clone().hold(work).await
            } => done,
        }
    }
}
