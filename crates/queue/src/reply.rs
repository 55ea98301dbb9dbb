//! What the engine answers.

use std::time::Duration;

use leasehold_core::Timestamp;

use crate::call::Slot;
use crate::store::Counts;
use crate::{Item, ItemId, QueueName};

/// Items that are stored durably.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Produced {
    /// The partition that took them.
    pub partition: u32,
    /// Their ids, in the order given. An id changes when its item is placed anew.
    pub ids: Vec<ItemId>,
}

/// Leased items, in order, all of one partition.
#[derive(Debug)]
pub struct Leased {
    /// The partition they are in: to be named when they are completed.
    pub partition: u32,
    /// At least one.
    pub items: Vec<Item>,
    /// To be kept for as long as the items are in memory, in whatever form.
    pub room: Room,
}

/// The part that an answer has of the memory that all answers of an engine share. Dropping it makes room for others.
#[derive(Debug, Default)]
pub struct Room {
    _slot: Option<Slot>,
}

impl From<Slot> for Room {
    fn from(slot: Slot) -> Self {
        Room { _slot: Some(slot) }
    }
}

/// Items whose lease now ends later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extended {
    /// When.
    pub lease_deadline: Timestamp,
}

/// The figures of a queue.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QueueStats {
    /// Produces that are not stored yet.
    pub produce_waiting: usize,
    /// Leases that wait for items.
    pub lease_waiting: usize,
    /// Completes, retries and extends that are not carried out yet.
    pub complete_waiting: usize,
    /// Calls that are not answered yet.
    pub in_flight: usize,
    /// By number.
    pub partitions: Vec<PartitionStats>,
}

/// The figures of a partition.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PartitionStats {
    /// Its number.
    pub partition: u32,
    /// How many items, by state.
    pub counts: Counts,
    /// Zero when it is well; otherwise how often in a row the store failed.
    pub failures: u32,
    /// The mean of the time since creation, of ready and leased items.
    pub average_age: Duration,
    /// The mean of the time left, of leased items.
    pub average_lease_left: Duration,
}

/// What a console shows of a queue that is in use.
#[derive(Clone, Debug, PartialEq)]
pub struct QueueOverview {
    /// Which.
    pub name: QueueName,
    /// Leases that wait for items.
    pub lease_waiting: usize,
    /// Calls that are not answered yet.
    pub in_flight: usize,
    /// By number.
    pub partitions: Vec<PartitionOverview>,
}

/// What a console shows of a partition.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PartitionOverview {
    /// Its number.
    pub partition: u32,
    /// How many items, by state.
    pub counts: Counts,
    /// How long the first in line exists; none if nothing is ready, or the partition is failing.
    pub oldest_ready_age: Option<Duration>,
    /// What happened since the queue was opened.
    pub totals: Totals,
    /// Zero when it is well; otherwise how often in a row the store failed.
    pub failures: u32,
    /// Dying items that could not be brought to the dead queue yet.
    pub frozen: usize,
    /// What went wrong last, also if it is well again.
    pub last_error: Option<LastError>,
}

/// A failure, for the eyes of an operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastError {
    /// When.
    pub at: Timestamp,
    /// The error and its causes.
    pub message: String,
}

/// What happened to the items of a partition since its queue was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Stored for the first time: produced, imported, or moved here.
    pub produced: u64,
    /// Leases granted.
    pub leased: u64,
    /// Completed.
    pub completed: u64,
    /// Given back by their holders.
    pub retried: u64,
    /// Leases that ran out.
    pub expired: u64,
    /// Died: moved to the dead queue, or deleted without one.
    pub dead: u64,
}
