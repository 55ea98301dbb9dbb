//! Where items and queues are kept: the least a store must do.
//!
//! Every write names the items it is about by their ids, which its caller chose beforehand. So a write whose answer
//! was lost can be settled by looking at those ids, and nothing is repeated before that; unless another owner came in
//! between, whose doings look the same.

#[cfg(feature = "dsql")]
pub mod dsql;
#[cfg(feature = "embedded")]
pub mod embedded;
mod error;
pub(crate) mod index;
mod judge;
pub mod memory;
mod outcome;
#[cfg(feature = "postgres")]
pub mod postgres;
mod write_max;

use std::future::Future;
use std::num::NonZeroUsize;
use std::pin::Pin;

use async_trait::async_trait;
use leasehold_core::Timestamp;

use crate::{Item, ItemId, Namespace, QueueInfo, QueueName};

pub use error::{Result, StoreError};
pub use outcome::{
    Change, Cleared, Counts, Deadlines, Dropped, Due, DueAction, ItemHeader, LastOwner, Listed, Missing,
    Opened, Pick, Placement, Ready, Removed, StoreStats, Takeover, Verdict,
};
pub use write_max::WriteMax;

/// A partition of a queue, by name.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PartitionId {
    /// The queue it belongs to.
    pub queue: QueueName,
    /// Its number, from zero.
    pub number: u32,
}

/// A place that keeps partitions.
#[async_trait]
pub trait Store: Send + Sync + 'static {
    /// A handle on a partition. Touches nothing: the first call of the handle does.
    fn partition(&self, partition: &PartitionId) -> Box<dyn PartitionStore>;

    /// A handle on a partition of the queue that was created at this instant. Where the records of queues are in the same
    /// place, it opens in one step with a look at the record: [`StoreError::QueueGone`], and nothing is made, if the record
    /// is not there or is that of a later queue.
    fn partition_of(&self, partition: &PartitionId, created_at: Timestamp) -> Box<dyn PartitionStore>;

    /// Drops a partition with all its items, or as many of them as one call may; fine if it does not exist. Its owner
    /// must have been closed: a write of one that has not answers [`StoreError::Fenced`].
    ///
    /// # Errors
    /// What the store said. It may be called again.
    async fn drop_partition(&self, partition: &PartitionId) -> Result<Dropped>;

    /// Who took the partition over last.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`].
    async fn last_owner(&self, partition: &PartitionId) -> Result<LastOwner>;

    /// Drops a partition as [`drop_partition`](Self::drop_partition) does, unless somebody has taken it over since. To
    /// go on, the last owner is asked for anew.
    ///
    /// # Errors
    /// What the store said. It may be called again.
    async fn drop_leftover(&self, partition: &PartitionId, last_owner: LastOwner) -> Result<Dropped>;
}

/// The answer to [`PartitionStore::stats`].
pub type StatsAnswer = Pin<Box<dyn Future<Output = Result<StoreStats>> + Send>>;

/// The answer to [`PartitionStore::list`].
pub type ListAnswer = Pin<Box<dyn Future<Output = Result<Listed>> + Send>>;

/// Partitions of one store that the engine opens at the same time. More of them would take from writes what they need.
pub(crate) const OPENS_MAX: usize = 4;

/// The items of one partition, in the hands of its one owner.
///
/// Calls are not made at the same time. A call may be dropped midway; whether its write happened is then unknown,
/// and the next call is [`open`](Self::open). Batches are as long as the engine's limits and the store's own allow, and
/// never empty.
#[async_trait]
pub trait PartitionStore: Send + 'static {
    /// How much one write may hold. A [`produce`](Self::produce), or a request of a [`change`](Self::change), that holds
    /// more is [`StoreError::TooLarge`].
    fn write_max(&self) -> WriteMax;

    /// Becomes the owner, and tells what is there. From here on no write of an earlier owner succeeds, including
    /// one that this very handle had sent and never saw answered: what is read afterwards stays true.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`]; the call may be repeated. [`StoreError::QueueGone`] of a handle that belongs to a queue.
    async fn open(&mut self) -> Result<Opened>;

    /// Adds items under the ids they carry, which are above all that are stored: all of them or none. One whose
    /// `source_id` is already here, or earlier in the batch, is left out.
    ///
    /// # Errors
    /// As every write: [`StoreError::Unavailable`] if surely nothing was written, [`StoreError::Indeterminate`]
    /// if that is not known, [`StoreError::Fenced`] if another owner has taken over.
    async fn produce(&mut self, items: &[Item]) -> Result<Vec<Placement>>;

    /// The first ready items, in order, each with its size; those past their expire deadline are passed over. Fewer than
    /// the limit are all there are.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`].
    async fn next_ready(&mut self, limit: NonZeroUsize, now: Timestamp) -> Result<Vec<Ready>>;

    /// Leases ready items: each gets its deadline, and one more attempt. Returns them as they are now, in the order
    /// of the picks, which are of different items; one that is not ready is left out.
    ///
    /// # Errors
    /// As [`produce`](Self::produce).
    async fn lease(&mut self, picks: &[Pick]) -> Result<Vec<Item>>;

    /// Changes leased items: completes, returns, extends. The changes of one request happen all or none; a verdict
    /// per request says which, and requests do not affect each other, save that an id taken by an earlier one is
    /// gone for a later one.
    ///
    /// # Errors
    /// As [`produce`](Self::produce); then none of the requests was carried out.
    async fn change(&mut self, requests: &[&[Change]]) -> Result<Vec<Verdict>>;

    /// What is due at `now`, the longest due first, at most `limit`: leases past their deadline, schedules, items
    /// past their expire deadline. `max_attempts` is the queue's, zero for no limit.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`].
    async fn due(&mut self, now: Timestamp, max_attempts: u32, limit: NonZeroUsize) -> Result<Vec<Due>>;

    /// Puts items at the tail under new ids, ready, whatever they were. Old ids that are not here are skipped.
    /// Returns the new ids that took effect, in order.
    ///
    /// # Errors
    /// As [`produce`](Self::produce).
    async fn requeue(&mut self, moves: &[(ItemId, ItemId)]) -> Result<Vec<ItemId>>;

    /// The items with these ids that are here, in the order asked, without their contents, which are not read. What it
    /// answers was so while the caller was the owner.
    ///
    /// # Errors
    /// As [`fetch`](Self::fetch).
    async fn headers(&mut self, ids: &[ItemId]) -> Result<Vec<ItemHeader>>;

    /// The items with these ids that are here, in the order asked. What it answers was so while the caller was the
    /// owner.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`], [`StoreError::Fenced`] if another owner has taken over.
    async fn fetch(&mut self, ids: &[ItemId]) -> Result<Vec<Item>>;

    /// Deletes items by id, whatever they are; unknown ids are skipped.
    ///
    /// # Errors
    /// As [`produce`](Self::produce).
    async fn remove(&mut self, ids: &[ItemId]) -> Result<Removed>;

    /// Deletes items of the given states with ids above `behind`, in order of id: as many as one short write may look
    /// at. The answer says where to go on.
    ///
    /// # Errors
    /// As [`produce`](Self::produce).
    async fn clear(&mut self, ready: bool, leased: bool, scheduled: bool, behind: ItemId) -> Result<Cleared>;

    /// Items from the pivot on, in order of id, the scheduled ones or all others, as they are at one instant while the
    /// answer is awaited. The page ends with the item that is the `limit`th, or with which payloads and texts have
    /// `bytes` or more. Other calls may be made meanwhile; dropped, nothing is left behind.
    ///
    /// Its errors are those of [`stats`](Self::stats).
    fn list(&self, scheduled: bool, pivot: ItemId, limit: usize, bytes: usize) -> ListAnswer;

    /// The earliest deadlines that are stored.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`].
    async fn deadlines(&mut self) -> Result<Deadlines>;

    /// Counts and ages, as they are while the answer is awaited. That may take long, and other calls may be made
    /// meanwhile; dropped, nothing is left behind.
    ///
    /// Its errors are [`StoreError::Unavailable`], and [`StoreError::Fenced`] if the handle does not own the partition.
    fn stats(&self, now: Timestamp) -> StatsAnswer;

    /// Lets go of the partition. A second close does nothing; a later call is an error or opens anew.
    async fn close(&mut self);
}

/// The records of queues.
#[async_trait]
pub trait QueueStore: Send + Sync + 'static {
    /// The record, if there is one.
    ///
    /// # Errors
    /// What the store said.
    async fn get(&self, name: &QueueName) -> Result<Option<QueueInfo>>;

    /// Adds a record; false if the name is taken.
    ///
    /// # Errors
    /// What the store said.
    async fn add(&self, info: &QueueInfo) -> Result<bool>;

    /// Replaces the record of the queue that was created at the same instant; false if there is none.
    ///
    /// # Errors
    /// What the store said.
    async fn replace(&self, info: &QueueInfo) -> Result<bool>;

    /// Records in byte order of names, starting at the pivot, of one namespace or all.
    ///
    /// # Errors
    /// What the store said.
    async fn list(&self, namespace: Option<&Namespace>, pivot: &str, limit: usize) -> Result<Vec<QueueInfo>>;

    /// Removes the record of the queue that was created at the same instant; false if there is none. In the same step the
    /// owners of its partitions in the same place are fenced, as far as one write can: their items are left behind.
    ///
    /// # Errors
    /// What the store said.
    async fn delete(&self, info: &QueueInfo) -> Result<bool>;
}
