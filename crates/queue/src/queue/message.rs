//! What goes between callers, the router of a queue and the owners of its partitions.

use std::sync::Arc;
use std::time::Duration;

use leasehold_core::Timestamp;
use tokio::sync::oneshot;

use super::choice::Told;
use crate::call::{Call, Slot};
use crate::partition::Listing;
use crate::reply::{Leased, PartitionOverview, PartitionStats, Produced};
use crate::request::{Ids, NewItem};
use crate::store::{Removed, StoreStats};
use crate::{Item, ItemId, Result};

/// Items on their way to a partition.
#[derive(Debug)]
pub(crate) struct Produce {
    pub(crate) call: Call<Produced>,
    pub(crate) items: Vec<NewItem>,
    /// Their share of memory.
    pub(crate) room: Slot,
    /// What the router counts for it while it is on its way.
    pub(crate) charged: u64,
}

/// A lease that waits for items.
#[derive(Debug)]
pub(crate) struct Lease {
    pub(crate) call: Call<Leased>,
    pub(crate) client_id: Arc<str>,
    pub(crate) batch_size: usize,
    pub(crate) lease_timeout: Option<Duration>,
    /// What the router counts for it while it is on its way.
    pub(crate) charged: u64,
}

/// A request about leased items.
#[derive(Debug)]
pub(crate) struct Change {
    pub(crate) call: Call<Option<Timestamp>>,
    pub(crate) partition: usize,
    pub(crate) ids: Ids,
    pub(crate) wish: Wish,
}

/// What is to become of leased items.
#[derive(Debug)]
pub(crate) enum Wish {
    Complete,
    /// One per id.
    Retry(Vec<Fate>),
    Extend(Option<Duration>),
}

/// What is to become of an item that is given back.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fate {
    At(Option<Timestamp>),
    Dead,
}

impl Wish {
    pub(crate) fn operation(&self) -> &'static str {
        match self {
            Wish::Complete => "complete",
            Wish::Retry(_) => "retry",
            Wish::Extend(_) => "extend",
        }
    }

    pub(crate) fn past_tense(&self) -> &'static str {
        match self {
            Wish::Complete => "completed",
            Wish::Retry(_) => "retried",
            Wish::Extend(_) => "extended",
        }
    }
}

/// To the router of a queue.
#[derive(Debug)]
pub(crate) enum RouterMessage {
    Produce(Produce),
    Lease(Lease),
    Change(Change),
    /// A caller gave up on a request that may wait here.
    Gone {
        number: u64,
        client_id: Option<Arc<str>>,
    },
    Report(Box<Report>),
    Waiting(oneshot::Sender<Waiting>),
    Pause(bool, oneshot::Sender<()>),
    Stop,
}

/// How many requests wait.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Waiting {
    pub(crate) produces: usize,
    pub(crate) leases: usize,
    pub(crate) changes: usize,
}

/// What the owner of a partition tells the router after each write, before it answers the callers: a caller who acts
/// on an answer must not be ahead of what the router knows.
#[derive(Debug, Default)]
pub(crate) struct Report {
    pub(crate) partition: usize,
    pub(crate) told: Told,
    pub(crate) produces_done: usize,
    pub(crate) changes_done: usize,
    /// Clients whose lease is about to be answered, by the number of their request.
    pub(crate) released: Vec<(Arc<str>, u64)>,
    /// Nothing was done for these: they may be tried elsewhere.
    pub(crate) produces_back: Vec<Produce>,
    pub(crate) leases_back: Vec<Lease>,
}

/// To the owner of a partition.
#[derive(Debug)]
pub(crate) enum PartitionMessage {
    Work(Work),
    Cold(Cold),
    Moved(Moved),
    /// A list that has a next page.
    Listing(Listing),
    /// What the store said when it was asked for figures.
    Counted(crate::store::Result<StoreStats>),
    Stop,
}

/// What the router sends to one partition at once.
#[derive(Debug, Default)]
pub(crate) struct Work {
    pub(crate) produces: Vec<Produce>,
    pub(crate) leases: Vec<Lease>,
    pub(crate) changes: Vec<Change>,
}

/// Requests that are not part of the stream of items. They are answered one by one.
#[derive(Debug)]
pub(crate) enum Cold {
    /// Answers once the first attempt to open the partition was made.
    Opened(oneshot::Sender<()>),
    Stats(oneshot::Sender<PartitionStats>),
    Overview(oneshot::Sender<PartitionOverview>),
    List {
        scheduled: bool,
        pivot: ItemId,
        limit: usize,
        reply: Reply<Vec<Item>>,
    },
    Add {
        items: Vec<Item>,
        reply: Reply<Vec<Item>>,
    },
    /// Dead items of another queue.
    Deposit {
        items: Vec<Item>,
        reply: Reply<()>,
    },
    Remove {
        ids: Vec<ItemId>,
        reply: Reply<Removed>,
    },
    Clear {
        ready: bool,
        leased: bool,
        scheduled: bool,
        reply: Reply<Removed>,
    },
    Reload(oneshot::Sender<()>),
    /// Another record is in force.
    Updated,
}

/// Answers a question; whoever asked may be gone.
pub(crate) fn tell<T>(reply: oneshot::Sender<T>, answer: T) {
    let _nobody_hears = reply.send(answer);
}

/// Where the answer to a cold request goes.
pub(crate) type Reply<T> = oneshot::Sender<Result<T>>;

/// Dead items that arrived in the dead queue, or did not.
#[derive(Debug, Default)]
pub(crate) struct Moved {
    pub(crate) arrived: Vec<ItemId>,
    /// Why the others did not.
    pub(crate) error: Option<String>,
}
