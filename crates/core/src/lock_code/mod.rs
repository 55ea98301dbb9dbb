//! The error codes shared with SyncGuard, and what stores say mapped to them.

mod grpc;
mod redis;
mod sqlstate;

use std::fmt;

use crate::Class;

/// What a SyncGuard peer calls an error. Users move between the two products; codes must mean the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LockCode {
    /// Store unreachable, connection lost, transaction conflict.
    ServiceUnavailable,
    /// Bad credentials, or no permission.
    AuthFailed,
    /// Bad key, lock id, ttl or configuration, or a request the store rejects as malformed.
    InvalidArgument,
    /// Quota, throttling, exhausted resources.
    RateLimited,
    /// An operation of the store timed out.
    NetworkTimeout,
    /// Waiting for the lock used up its retries or its time.
    AcquisitionTimeout,
    /// Cancelled by the caller.
    Aborted,
    /// Anything else; fence overflow.
    Internal,
}

/// A failure between us and the store, which is no answer of the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Transport {
    /// The operating system failed to reach, resolve, read or write: refused, reset, no such host.
    Io,
    /// A timer of ours or of the driver ran out.
    Timeout,
    /// The connection is closed, or the driver gave up reconnecting.
    Closed,
    /// Every pooled connection stayed busy.
    PoolExhausted,
}

impl LockCode {
    /// Every code.
    pub const ALL: [Self; 8] = [
        Self::ServiceUnavailable,
        Self::AuthFailed,
        Self::InvalidArgument,
        Self::RateLimited,
        Self::NetworkTimeout,
        Self::AcquisitionTimeout,
        Self::Aborted,
        Self::Internal,
    ];

    /// The exact text of the code.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ServiceUnavailable => "ServiceUnavailable",
            Self::AuthFailed => "AuthFailed",
            Self::InvalidArgument => "InvalidArgument",
            Self::RateLimited => "RateLimited",
            Self::NetworkTimeout => "NetworkTimeout",
            Self::AcquisitionTimeout => "AcquisitionTimeout",
            Self::Aborted => "Aborted",
            Self::Internal => "Internal",
        }
    }

    /// What the caller does next, as far as the code alone can say. A backend that knows more must say more: a
    /// connection lost after a write was sent is [`Class::Indeterminate`], whatever the code.
    pub const fn class(self) -> Class {
        match self {
            Self::ServiceUnavailable | Self::RateLimited | Self::NetworkTimeout => Class::Unavailable,
            Self::AuthFailed | Self::InvalidArgument => Class::Rejected,
            // A cancelled caller does not stop what the store has already begun.
            Self::Aborted => Class::Indeterminate,
            Self::AcquisitionTimeout => Class::Conflict,
            Self::Internal => Class::Internal,
        }
    }

    /// The code of a failure that is no answer of the store.
    pub const fn from_transport(transport: Transport) -> Self {
        match transport {
            Transport::Io | Transport::Closed => Self::ServiceUnavailable,
            Transport::Timeout => Self::NetworkTimeout,
            Transport::PoolExhausted => Self::RateLimited,
        }
    }
}

impl fmt::Display for LockCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cancellations_do_not_claim_that_nothing_happened() {
        assert_eq!(LockCode::Aborted.class(), Class::Indeterminate);
    }

    /// Whoever does not know says so by an error of its own, whatever the code.
    #[test]
    fn timeout_of_a_store_that_did_nothing_is_worth_a_retry() {
        assert_eq!(LockCode::NetworkTimeout.class(), Class::Unavailable);
    }

    #[test]
    fn exhausted_pool_is_a_limit_and_not_an_outage() {
        assert_eq!(LockCode::from_transport(Transport::PoolExhausted), LockCode::RateLimited);
    }
}
