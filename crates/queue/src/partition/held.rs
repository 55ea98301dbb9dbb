//! The leases this owner knows of.
//!
//! A completed item leaves nothing behind. So when the answer to a completion is lost and the item is gone, only who
//! knows that it was held before can tell a completion from a lease that had run out long ago.

use std::collections::HashSet;

use crate::ItemId;

/// Beyond so many, an owner does not know more; it then says that it does not know.
const KNOWN_MAX: usize = 1_000_000;

/// Items that are surely held, because this owner leased them and has written every change since.
#[derive(Debug, Default)]
pub(super) struct Held(HashSet<ItemId>);

impl Held {
    pub(super) fn add(&mut self, ids: impl IntoIterator<Item = ItemId>) {
        for id in ids {
            if self.0.len() < KNOWN_MAX {
                self.0.insert(id);
            }
        }
    }

    pub(super) fn remove(&mut self, ids: impl IntoIterator<Item = ItemId>) {
        for id in ids {
            self.0.remove(&id);
        }
    }

    pub(super) fn knows(&self, id: ItemId) -> bool {
        self.0.contains(&id)
    }

    /// Another may have been the owner meanwhile.
    pub(super) fn forget(&mut self) {
        self.0.clear();
    }
}
