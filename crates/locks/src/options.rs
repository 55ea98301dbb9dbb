use std::time::Duration;

use leasehold_core::{LockId, Ttl};

use crate::Retry;

/// How to acquire a key; the defaults are SyncGuard's.
#[derive(Debug, Clone)]
pub struct AcquireOptions {
    /// How long the hold lasts unless extended: 30 s.
    pub ttl: Ttl,
    /// How long to wait for the key: 5 s. Zero asks once.
    pub timeout: Duration,
    /// How to ask again.
    pub retry: Retry,
    /// The id of the hold, if the caller wants to be able to repeat the call after an unknown outcome. Must be
    /// fresh for each hold, and kept until the outcome is known.
    pub lock_id: Option<LockId>,
}

impl Default for AcquireOptions {
    fn default() -> Self {
        AcquireOptions {
            ttl: Ttl::DEFAULT,
            timeout: Duration::from_secs(5),
            retry: Retry::default(),
            lock_id: None,
        }
    }
}

impl AcquireOptions {
    /// With another ttl.
    pub fn ttl(self, ttl: Ttl) -> Self {
        AcquireOptions { ttl, ..self }
    }

    /// With another time to wait.
    pub fn timeout(self, timeout: Duration) -> Self {
        AcquireOptions { timeout, ..self }
    }

    /// With another way to ask again.
    pub fn retry(self, retry: Retry) -> Self {
        AcquireOptions { retry, ..self }
    }

    /// With an id of the caller's.
    pub fn lock_id(self, lock_id: LockId) -> Self {
        AcquireOptions { lock_id: Some(lock_id), ..self }
    }
}
