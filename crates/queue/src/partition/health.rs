//! Whether a partition can be used.

use tokio::time::Instant;

use crate::engine::Backoff;
use crate::{Error, StoreError};

/// Whether a partition can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Health {
    /// It was opened, and the store has not failed since.
    Well,
    /// The store failed so often in a row; it is opened anew at this instant.
    Failing { failures: u32, retry_at: Instant },
    /// Another owner has it. Taking it back is for an operator to ask: two servers that each take it back at once
    /// would do nothing else.
    Fenced,
}

impl Health {
    pub(super) fn is_well(self) -> bool {
        self == Health::Well
    }

    pub(super) fn failures(self) -> u32 {
        match self {
            Health::Well => 0,
            Health::Failing { failures, .. } => failures,
            Health::Fenced => 1,
        }
    }

    /// What it is after the store failed, so often in a row.
    pub(super) fn after(error: &StoreError, failures: u32, backoff: Backoff) -> Self {
        match error {
            StoreError::Fenced { .. } | StoreError::QueueGone { .. } => Health::Fenced,
            StoreError::Unavailable { .. }
            | StoreError::Indeterminate { .. }
            | StoreError::TooLarge { .. }
            | StoreError::Unusable { .. } => {
                let retry_at = Instant::now() + backoff.spread(failures.saturating_sub(1));
                Health::Failing { failures, retry_at }
            }
        }
    }
}

/// The same error for each of the requests that it is the answer to.
pub(super) fn repeat(error: &StoreError, operation: &'static str) -> Error {
    Error::Storage(match error {
        StoreError::Fenced { partition } => StoreError::Fenced { partition: partition.clone() },
        StoreError::QueueGone { queue } => StoreError::QueueGone { queue: queue.clone() },
        StoreError::TooLarge { operation, reason } => {
            StoreError::TooLarge { operation, reason: reason.clone() }
        }
        StoreError::Unusable { what, reason } => {
            StoreError::Unusable { what: what.clone(), reason: reason.clone() }
        }
        StoreError::Unavailable { .. } | StoreError::Indeterminate { .. } => {
            StoreError::Unavailable { operation, source: chain(error).into() }
        }
    })
}

/// An error and its causes.
pub(super) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        text = format!("{text}: {cause}");
        next = cause.source();
    }
    text
}
