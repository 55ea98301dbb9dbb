//! Why the engine did not do what it was asked.

use leasehold_core::Class;

use crate::{ItemId, QueueName, Refusal, StoreError};

/// The result of the engine.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a request was not carried out. The texts are those queue clients know.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The request cannot be right.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// There is no such queue.
    #[error("queue does not exist; no such queue named '{name}'")]
    QueueNotFound {
        /// The name that was asked for.
        name: QueueName,
    },
    /// The name is taken.
    #[error("invalid queue; '{name}' already exists")]
    QueueExists {
        /// The name.
        name: QueueName,
    },
    /// An id names no item of the partition, or a scheduled one.
    #[error("invalid storage id; '{id}' does not exist")]
    ItemNotFound {
        /// The id.
        id: ItemId,
    },
    /// An id names an item that nobody holds.
    #[error("item(s) cannot be {verb}; '{id}' is not marked as leased")]
    NotLeased {
        /// `completed`, `retried` or `extended`.
        verb: &'static str,
        /// The id.
        id: ItemId,
    },
    /// Nothing to lease came before the timeout.
    #[error("request timeout; no items are in the queue, try again")]
    LeaseTimeout,
    /// Nothing to lease came before the timeout, and no partition could be looked into: there may be items. To clients
    /// who go by the text it is as any other timeout.
    #[error("request timeout; no items are in the queue, try again")]
    LeaseUnavailable,
    /// No partition could take the items before the timeout. Nothing was stored.
    #[error("request timeout; no partition could take the items, try again")]
    ProduceTimeout,
    /// Too many requests wait.
    #[error("queue is overloaded; try again later")]
    Overloaded,
    /// The partition cannot be used now.
    #[error("partition not available; partition '{partition}' is failing, retry again")]
    PartitionFailing {
        /// Its number.
        partition: u32,
    },
    /// The store failed; nothing of the request was done.
    #[error("internal error, try your request again")]
    Storage(#[source] StoreError),
    /// The store may or may not have done it.
    #[error("outcome of {operation} is unknown; look before trying again")]
    Indeterminate {
        /// What was asked.
        operation: &'static str,
        /// Why it is not known.
        source: StoreError,
    },
    /// The queue is being stopped.
    #[error("queue is shutting down")]
    QueueStopping,
    /// The engine is being stopped.
    #[error("service is shutting down")]
    EngineStopping,
    /// A queue's record names a store that is not configured.
    #[error("partition {partition} of queue {queue} is on store '{store}', which is not configured")]
    StoreUnknown {
        /// The queue.
        queue: QueueName,
        /// Its partition.
        partition: u32,
        /// The store's name.
        store: String,
    },
}

impl Error {
    /// A stable name, with an entry in `docs/errors.md`.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Refused(_) => "queue.refused",
            Self::QueueNotFound { .. } => "queue.not_found",
            Self::QueueExists { .. } => "queue.exists",
            Self::ItemNotFound { .. } => "queue.item_not_found",
            Self::NotLeased { .. } => "queue.not_leased",
            Self::LeaseTimeout => "queue.lease_timeout",
            Self::LeaseUnavailable => "queue.lease_unavailable",
            Self::ProduceTimeout => "queue.produce_timeout",
            Self::Overloaded => "queue.overloaded",
            Self::PartitionFailing { .. } => "queue.partition_failing",
            Self::Storage(_) => "queue.storage",
            Self::Indeterminate { .. } => "queue.indeterminate",
            Self::QueueStopping => "queue.stopping",
            Self::EngineStopping => "queue.engine_stopping",
            Self::StoreUnknown { .. } => "queue.store_unknown",
        }
    }

    /// What to do next.
    #[must_use]
    pub fn class(&self) -> Class {
        match self {
            Self::Refused(_) | Self::QueueNotFound { .. } | Self::QueueExists { .. } => Class::Rejected,
            Self::ItemNotFound { .. } | Self::NotLeased { .. } => Class::Conflict,
            Self::LeaseTimeout
            | Self::LeaseUnavailable
            | Self::ProduceTimeout
            | Self::Overloaded
            | Self::PartitionFailing { .. }
            | Self::Storage(_)
            | Self::QueueStopping
            | Self::EngineStopping => Class::Unavailable,
            Self::Indeterminate { .. } => Class::Indeterminate,
            Self::StoreUnknown { .. } => Class::Internal,
        }
    }
}
