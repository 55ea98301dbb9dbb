use std::error::Error as StdError;
use std::time::Duration;

use leasehold_core::{Class, KeyHash, LockCode, Refusal};

/// What went wrong with a lock. Contention and lost holds are not in here: they are answers.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A key, id, ttl or name that no store would take.
    #[error(transparent)]
    Invalid(#[from] leasehold_core::Error),
    /// A setting of a backend cannot be used.
    #[error("{field} {reason}")]
    BadConfig {
        /// The setting.
        field: &'static str,
        /// What is wrong with it and what to set instead, to follow its name. Never its value.
        reason: String,
    },
    /// The store refused or failed, and nothing happened.
    #[error("{operation} failed in the lock store")]
    Store {
        /// The verb.
        operation: &'static str,
        /// The kind of failure, in SyncGuard's words.
        lock_code: LockCode,
        /// What the store or its driver said.
        source: Box<dyn StdError + Send + Sync>,
    },
    /// The connection broke, or the caller's time ran out, while the store was at work: look the lock id up, or
    /// repeat the acquire with the same lock id.
    #[error("outcome of {operation} is unknown")]
    Indeterminate {
        /// The verb.
        operation: &'static str,
        /// What broke.
        source: Box<dyn StdError + Send + Sync>,
    },
    /// What the store returned is not a lock.
    #[error("{operation} found an entry that is not a lock where key {key_hash} keeps its own")]
    Foreign {
        /// The verb.
        operation: &'static str,
        /// The key that leads there.
        key_hash: KeyHash,
    },
    /// The lock id of an acquire has a live hold of another key: an id stands for one hold. Nothing was changed.
    #[error("lock id {lock_id_hash} holds another key; a hold needs an id of its own")]
    LockIdInUse {
        /// The id.
        lock_id_hash: KeyHash,
    },
    /// The key stayed held for as long as the caller wanted to wait.
    #[error("key {key_hash} was still held after {attempts} attempts in {waited:?}")]
    AcquisitionTimeout {
        /// The key.
        key_hash: KeyHash,
        /// How often the store was asked.
        attempts: u32,
        /// For how long.
        waited: Duration,
    },
    /// The caller stopped waiting for a release, which goes on in the background.
    #[error("no answer to a release within {waited:?}; it goes on in the background")]
    ReleaseTimeout {
        /// How long the caller waited.
        waited: Duration,
    },
    /// The hold had already ended when it was to be kept.
    #[error("the hold of key {key_hash} has ended: {refusal}")]
    Ended {
        /// The key.
        key_hash: KeyHash,
        /// What the store said.
        refusal: Refusal,
    },
    /// The caller cancelled. An acquire that had already been sent is released in the background.
    #[error("{operation} was aborted by the caller{}", if *is_unknown { "; its outcome is unknown" } else { "" })]
    Aborted {
        /// The verb.
        operation: &'static str,
        /// Whether a release or an extension may have been sent before.
        is_unknown: bool,
    },
}

/// A result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// The caller cancelled before anything was sent.
    pub(crate) fn not_sent(operation: &'static str) -> Self {
        Error::Aborted { operation, is_unknown: false }
    }

    /// Stable code; every one has its entry in `docs/errors.md`.
    pub fn code(&self) -> &'static str {
        match self {
            Error::Invalid(inner) => inner.code(),
            Error::BadConfig { .. } => "lock.bad_config",
            Error::Store { lock_code: LockCode::ServiceUnavailable, .. } => "lock.unavailable",
            Error::Store { lock_code: LockCode::AuthFailed, .. } => "lock.auth_failed",
            Error::Store { lock_code: LockCode::InvalidArgument, .. } => "lock.rejected",
            Error::Store { lock_code: LockCode::RateLimited, .. } => "lock.rate_limited",
            Error::Store { lock_code: LockCode::NetworkTimeout, .. } => "lock.timeout",
            Error::Store { .. } => "lock.internal",
            Error::Indeterminate { .. } => "lock.unknown_outcome",
            Error::Foreign { .. } => "lock.foreign_entry",
            Error::LockIdInUse { .. } => "lock.id_in_use",
            Error::AcquisitionTimeout { .. } => "lock.acquisition_timeout",
            Error::ReleaseTimeout { .. } => "lock.release_timeout",
            Error::Ended { .. } => "lock.ended",
            Error::Aborted { .. } => "lock.aborted",
        }
    }

    /// What the caller should do next.
    pub fn class(&self) -> Class {
        match self {
            Error::Invalid(inner) => inner.class(),
            Error::Store { lock_code, .. } => lock_code.class(),
            Error::Indeterminate { .. }
            | Error::ReleaseTimeout { .. }
            | Error::Aborted { is_unknown: true, .. } => Class::Indeterminate,
            Error::BadConfig { .. } | Error::Foreign { .. } | Error::LockIdInUse { .. } => Class::Rejected,
            Error::AcquisitionTimeout { .. } | Error::Ended { .. } => Class::Conflict,
            Error::Aborted { is_unknown: false, .. } => Class::Rejected,
        }
    }

    /// The same failure in SyncGuard's words.
    pub fn lock_code(&self) -> LockCode {
        match self {
            Error::Invalid(inner) => inner.lock_code(),
            Error::Store { lock_code, .. } => *lock_code,
            Error::Indeterminate { .. } => LockCode::ServiceUnavailable,
            Error::BadConfig { .. }
            | Error::Foreign { .. }
            | Error::LockIdInUse { .. }
            | Error::Ended { .. } => LockCode::InvalidArgument,
            Error::AcquisitionTimeout { .. } => LockCode::AcquisitionTimeout,
            Error::ReleaseTimeout { .. } => LockCode::NetworkTimeout,
            Error::Aborted { .. } => LockCode::Aborted,
        }
    }
}
