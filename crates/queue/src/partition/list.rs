//! Lists: page by page beside the loop, which goes on meanwhile.

use tokio::task::JoinSet;

use super::Partition;
use super::health::repeat;
use crate::queue::message::{PartitionMessage, Reply, tell};
use crate::store::{Listed, Result as StoreResult};
use crate::{Item, ItemId, Refusal};

/// Items of one page: as few as one short read gives.
const PAGE_LEN: usize = 1_000;

/// A list that is being read.
#[derive(Debug)]
pub(crate) struct Listing {
    scheduled: bool,
    /// Where the next page begins.
    pivot: ItemId,
    /// How many items are still wanted.
    left: usize,
    items: Vec<Item>,
    bytes: usize,
    reply: Reply<Vec<Item>>,
}

/// Reads that are under way; they end with the partition.
pub(super) type Reads = JoinSet<()>;

impl Listing {
    pub(super) fn new(scheduled: bool, pivot: ItemId, limit: usize, reply: Reply<Vec<Item>>) -> Self {
        Listing { scheduled, pivot, left: limit, items: Vec::new(), bytes: 0, reply }
    }

    /// Takes a page in. Answers if that was the last one, or cannot be; otherwise there is a next one.
    fn take(mut self, page: StoreResult<Listed>, bytes_max: usize) -> Option<Self> {
        let Listed { items, next } = match page {
            Ok(page) => page,
            Err(error) => {
                tell(self.reply, Err(repeat(&error, "list")));
                return None;
            }
        };
        self.left = self.left.saturating_sub(items.len());
        self.bytes += items.iter().map(Item::bytes).sum::<usize>();
        self.items.extend(items);
        if self.bytes > bytes_max && self.items.len() > 1 {
            let (items, limit) = (self.items.len(), bytes_max);
            tell(self.reply, Err(Refusal::ListTooLong { items, limit }.into()));
            return None;
        }
        match next.filter(|_| self.left > 0) {
            Some(next) => {
                self.pivot = next;
                Some(self)
            }
            None => {
                tell(self.reply, Ok(self.items));
                None
            }
        }
    }
}

impl Partition {
    /// Reads the next page. What the store says of it says nothing about what it can write.
    pub(super) fn list_on(&mut self, listing: Listing) {
        if listing.reply.is_closed() {
            return;
        }
        if let Err(error) = self.require_well() {
            return tell(listing.reply, Err(error));
        }
        let len = listing.left.min(PAGE_LEN);
        let page = self.store.list(listing.scheduled, listing.pivot, len, self.config.write_bytes_max);
        let (myself, bytes_max) = (self.links.myself.clone(), self.config.list_bytes_max);
        while self.reads.try_join_next().is_some() {}
        self.reads.spawn(async move {
            if let Some(listing) = listing.take(page.await, bytes_max)
                && let Some(myself) = myself.upgrade()
            {
                drop(myself.send(PartitionMessage::Listing(listing)));
            }
        });
    }
}
