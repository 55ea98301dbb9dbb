//! A unit of work and what a store keeps of it.

use bytes::Bytes;
use leasehold_core::Timestamp;

use crate::ItemId;

/// An item as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// Its place in the line; changes whenever it goes to the tail.
    pub id: ItemId,
    /// The id it had in the queue it came from. No two items of a partition share one.
    pub source_id: Option<String>,
    /// Whether somebody holds it.
    pub is_leased: bool,
    /// Until when it is held. An import may set it on an item that nobody holds.
    pub lease_deadline: Option<Timestamp>,
    /// When it dies, whatever its state; [`Timestamp::EPOCH`] stands for never, as an import without one means.
    pub expire_deadline: Timestamp,
    /// When it becomes ready; none for an item that is ready or leased.
    pub enqueue_at: Option<Timestamp>,
    /// When it was produced, imported, or moved here.
    pub created_at: Timestamp,
    /// How often it was leased.
    pub attempts: i32,
    /// What an import said. The queue's own limit decides.
    pub max_attempts: i32,
    /// The producer's, opaque.
    pub reference: String,
    /// The producer's, opaque.
    pub encoding: String,
    /// The producer's, opaque.
    pub kind: String,
    /// The producer's, opaque.
    pub payload: Bytes,
}

impl Item {
    /// What the item is.
    #[must_use]
    pub fn state(&self) -> ItemState {
        match (self.enqueue_at, self.is_leased) {
            (Some(_), _) => ItemState::Scheduled,
            (None, true) => ItemState::Leased,
            (None, false) => ItemState::Ready,
        }
    }

    /// What it takes, about.
    pub(crate) fn bytes(&self) -> usize {
        let source_id = self.source_id.as_ref().map_or(0, String::len);
        size_of::<Self>() + source_id + self.content_bytes()
    }

    /// What its producer gave: payload and texts.
    pub(crate) fn content_bytes(&self) -> usize {
        self.payload.len() + self.reference.len() + self.encoding.len() + self.kind.len()
    }

    /// Whether it is past its expire deadline. A scheduled item waits until it is enqueued.
    #[must_use]
    pub fn is_expired(&self, now: Timestamp) -> bool {
        self.enqueue_at.is_none() && is_past(self.expire_deadline, now)
    }
}

/// Whether an expire deadline is over: strictly after it, and never for one that was not set.
#[must_use]
pub fn is_past(expire_deadline: Timestamp, now: Timestamp) -> bool {
    expire_deadline != Timestamp::EPOCH && now > expire_deadline
}

/// What an item is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ItemState {
    /// Waits for its time.
    Scheduled,
    /// Can be leased.
    Ready,
    /// Somebody holds it.
    Leased,
}
