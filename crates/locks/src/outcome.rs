use std::time::Duration;

use leasehold_core::{Fence, LockId, Refusal, Timestamp};

/// The answer to acquire. Contention is an answer, not an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AcquireOutcome {
    /// The key is the caller's.
    Acquired(Grant),
    /// Somebody else holds it.
    Held {
        /// How long the store will go on refusing if the holder neither extends nor releases, where the store
        /// says so. A hint for how long to wait, never a promise.
        free_in: Option<Duration>,
    },
}

/// A hold as it was granted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grant {
    /// The right to extend and end it.
    pub lock_id: LockId,
    /// Its place in the key's history: send it along with every write made under this hold.
    pub fence: Fence,
    /// When it ends unless extended, by the clock that judges it.
    pub expires_at: Timestamp,
}

/// The answer to release.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReleaseOutcome {
    /// The hold was live and is ended. At most one release of a hold gets this.
    Released,
    /// There was nothing to end.
    Refused(Refusal),
}

/// The answer to extend.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExtendOutcome {
    /// The hold was live and lasts until then.
    Extended {
        /// The new end, by the clock that judges it.
        expires_at: Timestamp,
    },
    /// The hold had ended; nothing brings it back.
    Refused(Refusal),
}

impl AcquireOutcome {
    /// The grant, if the key was acquired.
    pub fn acquired(self) -> Option<Grant> {
        match self {
            AcquireOutcome::Acquired(grant) => Some(grant),
            AcquireOutcome::Held { .. } => None,
        }
    }
}

impl ReleaseOutcome {
    /// Whether this release ended the hold.
    pub fn is_released(self) -> bool {
        self == ReleaseOutcome::Released
    }
}

impl ExtendOutcome {
    /// The new end, if the hold was extended.
    pub fn expires_at(self) -> Option<Timestamp> {
        match self {
            ExtendOutcome::Extended { expires_at } => Some(expires_at),
            ExtendOutcome::Refused(_) => None,
        }
    }
}
