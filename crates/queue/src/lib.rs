//! Queues whose items are leased.
//!
//! An item is produced, leased by one consumer at a time until a deadline, and completed or given back. Within a
//! partition items are leased in the order in which they became ready. One task owns a partition and is the only
//! one that writes it; a [`PartitionStore`] keeps its items and carries out what the owner decided.

mod call;
mod clock;
#[cfg(feature = "conformance")]
pub mod conformance;
mod dead_queue_rule;
mod engine;
mod error;
mod item;
mod item_id;
mod partition;
mod queue;
mod queue_info;
mod queue_name;
mod refusal;
mod reply;
mod request;
pub mod store;
mod undertaker;

pub use clock::EngineClock;
pub use dead_queue_rule::DeadQueueRule;
pub use engine::{
    Backoff, Config, Engine, Limits, ListItems, NamedStore, PinnedPartition, Placement, UnknownStores,
};
pub use error::{Error, Result};
pub use item::{Item, ItemState, is_past};
pub use item_id::{ItemId, ItemIdText, ItemIds};
pub use queue_info::{PartitionInfo, QueueChange, QueueInfo, QueueOptions};
pub use queue_name::{DEFAULT_NAMESPACE, Namespace, QueueName};
pub use refusal::Refusal;
pub use reply::{
    Extended, LastError, Leased, PartitionOverview, PartitionStats, Produced, QueueOverview, QueueStats,
    Room, Totals,
};
pub use request::{
    ClearRequest, CompleteRequest, ExtendRequest, GivenId, ImportItem, LeaseRequest, NewItem, ProduceRequest,
    RetryItem, RetryRequest,
};
pub use store::{PartitionStore, QueueStore, Store, StoreError};
