//! What a store can answer other than well.

use leasehold_core::Class;

use super::PartitionId;
use crate::QueueName;

/// The result of a store.
pub type Result<T, E = StoreError> = std::result::Result<T, E>;

/// Why a store did not do what it was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// It did not happen, and may work later.
    #[error("{operation} failed in the store, nothing was changed")]
    Unavailable {
        /// What was asked.
        operation: &'static str,
        /// What the store's library said.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// It may have happened.
    #[error("outcome of {operation} in the store is unknown")]
    Indeterminate {
        /// What was asked.
        operation: &'static str,
        /// What the store's library said.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// Another owner has taken the partition over, or it was dropped; nothing was written.
    #[error("partition {} of queue {} is owned by another server", partition.number, partition.queue)]
    Fenced {
        /// The partition that was lost.
        partition: PartitionId,
    },
    /// The queue of the partition was deleted, and perhaps created again; nothing was written.
    #[error("queue {queue} was deleted")]
    QueueGone {
        /// The queue.
        queue: QueueName,
    },
    /// It cannot be written as a whole; nothing was.
    #[error("{operation} is too large for the store: {reason}")]
    TooLarge {
        /// What was asked.
        operation: &'static str,
        /// What is too large, and the limit.
        reason: String,
    },
    /// What is stored does not make sense to this release.
    #[error("{what} cannot be used: {reason}")]
    Unusable {
        /// The table, file or record.
        what: String,
        /// What is wrong with it.
        reason: String,
    },
}

impl StoreError {
    /// A stable name, with an entry in `docs/errors.md`.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Unavailable { .. } => "queue.store_unavailable",
            Self::Indeterminate { .. } => "queue.store_indeterminate",
            Self::Fenced { .. } => "queue.fenced",
            Self::QueueGone { .. } => "queue.gone",
            Self::TooLarge { .. } => "queue.store_too_large",
            Self::Unusable { .. } => "queue.store_unusable",
        }
    }

    /// What to do next.
    #[must_use]
    pub fn class(&self) -> Class {
        match self {
            Self::Unavailable { .. } => Class::Unavailable,
            Self::Indeterminate { .. } => Class::Indeterminate,
            Self::Fenced { .. } => Class::Conflict,
            Self::QueueGone { .. } | Self::TooLarge { .. } => Class::Rejected,
            Self::Unusable { .. } => Class::Internal,
        }
    }
}
