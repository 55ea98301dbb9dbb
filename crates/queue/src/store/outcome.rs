//! What stores are asked and what they answer.

use std::ops::AddAssign;
use std::time::Duration;

use leasehold_core::Timestamp;

use crate::{Item, ItemId, ItemState};

/// What a partition held when it was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Opened {
    /// What the ids of the owner begin with.
    pub takeover: Takeover,
    /// How many items, by state.
    pub counts: Counts,
    /// The largest id, of items in any state.
    pub id_max: Option<ItemId>,
    /// The earliest deadlines.
    pub deadlines: Deadlines,
    /// Whether nobody else was the owner since this handle was last opened: only then does what is found tell what
    /// became of a write whose answer was lost. False for the first time, and whenever that is not known.
    pub is_unbroken: bool,
}

/// What tells a take-over of a partition from all others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Takeover {
    /// Larger than those of all owners before.
    pub epoch: u64,
    /// Drawn for it: owners of two partitions may have equal epochs.
    pub random: [u8; 6],
}

impl Takeover {
    /// With random bytes of its own.
    pub(crate) fn draw(epoch: u64) -> Self {
        let mut random = [0; 6];
        getrandom::fill(&mut random).expect("the system gives random bytes");
        Takeover { epoch, random }
    }
}

/// Who took a partition over last, for telling later whether somebody has done so since; it says nothing else. None if
/// nobody ever did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LastOwner(pub Option<u128>);

/// How many items, by state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Can be leased.
    pub ready: u64,
    /// Held by somebody.
    pub leased: u64,
    /// Wait for their time.
    pub scheduled: u64,
}

impl AddAssign for Counts {
    fn add_assign(&mut self, more: Self) {
        self.ready += more.ready;
        self.leased += more.leased;
        self.scheduled += more.scheduled;
    }
}

/// The earliest instants at which something becomes due; none if nothing waits for one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Deadlines {
    /// Of a leased item, its lease deadline.
    pub lease: Option<Timestamp>,
    /// Of an item that is not scheduled, its expire deadline.
    pub expire: Option<Timestamp>,
    /// Of a scheduled item, its time.
    pub enqueue: Option<Timestamp>,
}

/// What became of a produced item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// It is stored.
    Placed,
    /// An item with its source id was here before, under this id.
    Known(ItemId),
}

/// An item that can be leased.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ready {
    /// Which.
    pub id: ItemId,
    /// What its producer gave: bytes of its payload, reference, encoding and kind; [`u32::MAX`] for more than that.
    pub bytes: u32,
}

impl Ready {
    /// What a store tells of an item that is ready.
    pub(crate) fn of(item: &Item) -> Self {
        Ready { id: item.id, bytes: u32::try_from(item.content_bytes()).unwrap_or(u32::MAX) }
    }

    /// What it takes in an answer.
    pub(crate) fn answer_bytes(&self) -> usize {
        size_of::<Item>() + self.bytes as usize
    }
}

/// An item without its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ItemHeader {
    /// Which.
    pub id: ItemId,
    /// What it is.
    pub state: ItemState,
    /// As [`Item::lease_deadline`].
    pub lease_deadline: Option<Timestamp>,
    /// As [`Item::expire_deadline`].
    pub expire_deadline: Timestamp,
    /// As [`Item::enqueue_at`].
    pub enqueue_at: Option<Timestamp>,
    /// As [`Item::created_at`].
    pub created_at: Timestamp,
    /// As [`Item::attempts`].
    pub attempts: i32,
}

impl ItemHeader {
    /// Whether it has this very lease.
    pub(crate) fn is_leased_until(&self, deadline: Timestamp) -> bool {
        self.state == ItemState::Leased && self.lease_deadline == Some(deadline)
    }
}

/// An item to lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pick {
    /// Which.
    pub id: ItemId,
    /// Until when.
    pub deadline: Timestamp,
}

/// What a leased item becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Done, or not wanted any more: deleted.
    Complete {
        /// Which.
        id: ItemId,
    },
    /// Ready again, at the tail.
    Return {
        /// Which.
        id: ItemId,
        /// Its new id.
        new_id: ItemId,
    },
    /// Scheduled under the same id; the lease is cleared.
    Schedule {
        /// Which.
        id: ItemId,
        /// For when.
        at: Timestamp,
    },
    /// Dying: still held, its expire deadline set to this instant, so that it is due for the dead queue whatever
    /// happens next.
    Expire {
        /// Which.
        id: ItemId,
        /// An instant that is past.
        at: Timestamp,
    },
    /// Held until another deadline.
    Extend {
        /// Which.
        id: ItemId,
        /// Until when.
        deadline: Timestamp,
    },
}

impl Change {
    /// The item it is about.
    #[must_use]
    pub fn id(&self) -> ItemId {
        match *self {
            Change::Complete { id }
            | Change::Return { id, .. }
            | Change::Schedule { id, .. }
            | Change::Expire { id, .. }
            | Change::Extend { id, .. } => id,
        }
    }
}

/// What became of a request to change leased items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// All its changes happened.
    Done,
    /// None did, because of this id, the first that cannot be changed.
    Refused {
        /// The id.
        id: ItemId,
        /// Why.
        missing: Missing,
    },
}

/// What an item lacks to be changed by the holder of its lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// It is not here, or it is scheduled.
    Item,
    /// Nobody holds it.
    Lease,
}

/// An item whose time has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Due {
    /// Which.
    pub id: ItemId,
    /// What is to happen to it.
    pub action: DueAction,
}

/// What is to happen to an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DueAction {
    /// A schedule came: to the tail.
    Enqueue,
    /// A lease ran out: to the tail.
    Reclaim,
    /// Its expire deadline passed, or a lease ran out at the last attempt: to the dead queue, or away.
    Die,
}

/// How many items were deleted, by the state they had.
pub type Removed = Counts;

/// How far clearing a partition got.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cleared {
    /// How many items were deleted.
    pub removed: Removed,
    /// The last id that was looked at, to go on behind; none if there is nothing behind it.
    pub next: Option<ItemId>,
}

/// A page of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listed {
    /// In order of id.
    pub items: Vec<Item>,
    /// Where the next page begins; none if there is nothing behind this one.
    pub next: Option<ItemId>,
}

/// How far dropping a partition got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dropped {
    /// Nothing is left.
    Whole,
    /// There is more than one call drops: it is to be called again.
    InPart,
    /// Nothing, as somebody has taken it over since.
    Taken,
}

/// The figures of a partition.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StoreStats {
    /// How many items, by state.
    pub counts: Counts,
    /// The mean of the time since creation, of ready and leased items.
    pub average_age: Duration,
    /// The mean of the time left, of leased items; none counts less than zero.
    pub average_lease_left: Duration,
    /// When the first ready item was created.
    pub oldest_ready_at: Option<Timestamp>,
}
