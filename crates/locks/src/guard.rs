use leasehold_core::{Fence, Key, LockId, Timestamp, Ttl};
use tokio::runtime::Handle;
use tokio::time::Instant;

use crate::keeper::{KeepOptions, KeptGuard};
use crate::{Error, ExtendOutcome, Grant, Locks, OnReleaseError, ReleaseContext, ReleaseOutcome, Result};

/// A key that is held. Released exactly once: by [`release`](Guard::release), by [`dispose`](Guard::dispose), or in
/// the background when it is dropped.
#[derive(Debug)]
#[must_use = "dropping a guard releases its lock"]
pub struct Guard {
    locks: Locks,
    /// `None` once the right to release has been used.
    hold: Option<Hold>,
}

#[derive(Debug, Clone)]
pub(crate) struct Hold {
    pub(crate) key: Key,
    pub(crate) ttl: Ttl,
    pub(crate) grant: Grant,
    /// Before the store granted it, as far as this process knows.
    pub(crate) acquired_at: Instant,
    /// An instant at which the store had surely not yet begun to count the ttl, if one is known.
    pub(crate) confirmed_at: Option<Instant>,
}

impl Guard {
    pub(crate) fn new(locks: Locks, hold: Hold) -> Self {
        Guard { locks, hold: Some(hold) }
    }

    /// The key that is held.
    pub fn key(&self) -> &Key {
        &self.hold().key
    }

    /// The right to this hold: whoever has it can end it.
    pub fn lock_id(&self) -> &LockId {
        &self.hold().grant.lock_id
    }

    /// Send it along with every write made under this lock.
    pub fn fence(&self) -> Fence {
        self.hold().grant.fence
    }

    /// When the hold was to end when it was granted, by the clock that judges it.
    pub fn expires_at(&self) -> Timestamp {
        self.hold().grant.expires_at
    }

    /// The hold as it was granted.
    pub fn grant(&self) -> Grant {
        self.hold().grant
    }

    /// Makes the hold last `ttl` from now. Dropping the future midway leaves it extended or not.
    pub async fn extend(&self, ttl: Ttl) -> Result<ExtendOutcome> {
        self.locks.extend(self.lock_id(), ttl).await
    }

    /// Extends the hold by itself from now on, and tells when it is lost. Fails if the hold is not live any more.
    pub async fn keep(self, options: KeepOptions) -> Result<KeptGuard> {
        KeptGuard::start(self, options).await
    }

    /// Ends the hold and waits for the answer. A release on its way goes on if the future is dropped.
    pub async fn release(mut self) -> Result<ReleaseOutcome> {
        let (locks, hold) = (self.locks.clone(), self.take());
        let releasing = tokio::spawn(async move { locks.backend().release(&hold.grant.lock_id).await });
        // The task can only be lost with its runtime; whether the store got the release is then unknown.
        releasing.await.map_err(|lost| Error::Indeterminate { operation: "release", source: lost.into() })?
    }

    /// Ends the hold; never fails. Errors go to `on_release_error`, and with a `release_timeout` the wait is bounded
    /// while the release goes on in the background.
    pub async fn dispose(mut self) {
        let hold = self.take();
        let context = ReleaseContext { key: hold.key.clone(), lock_id: hold.grant.lock_id };
        let releasing = tokio::spawn(release_and_report(self.locks.clone(), hold));
        let config = self.locks.config();
        let Some(timeout) = config.release_timeout else {
            let _ = releasing.await;
            return;
        };
        if tokio::time::timeout(timeout, releasing).await.is_err() && config.report_release_timeout {
            config.on_release_error.report(&Error::ReleaseTimeout { waited: timeout }, &context);
        }
    }

    /// Gives up the guard without releasing: the hold goes on until its ttl, or until whoever is given the lock id
    /// ends it.
    pub fn forget(mut self) -> Grant {
        self.take().grant
    }

    pub(crate) fn locks(&self) -> &Locks {
        &self.locks
    }

    pub(crate) fn hold(&self) -> &Hold {
        self.hold.as_ref().expect("only methods that consume the guard take its hold")
    }

    fn take(&mut self) -> Hold {
        self.hold.take().expect("only methods that consume the guard take its hold")
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        let Some(hold) = self.hold.take() else { return };
        match Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn(release_and_report(self.locks.clone(), hold))),
            Err(_) => {
                let key_hash = hold.key.key_hash();
                tracing::warn!(%key_hash, "a guard was dropped outside a runtime; its lock ends with its ttl");
            }
        }
    }
}

async fn release_and_report(locks: Locks, hold: Hold) {
    if let Err(error) = locks.backend().release(&hold.grant.lock_id).await {
        let on_release_error: &OnReleaseError = &locks.config().on_release_error;
        on_release_error.report(&error, &ReleaseContext { key: hold.key, lock_id: hold.grant.lock_id });
    }
}
