//! Clearing: step by step, with the turns of others in between.

use super::Partition;
use crate::call::unknown;
use crate::queue::message::{Reply, tell};
use crate::store::{Cleared, Removed, StoreError};
use crate::{ItemId, Result};

/// A clear that is under way.
#[derive(Debug)]
pub(super) struct Clearing {
    ready: bool,
    leased: bool,
    scheduled: bool,
    /// Up to here it is done.
    behind: ItemId,
    /// What came after the clear did is not its business, or it would never end.
    last: ItemId,
    removed: Removed,
    reply: Reply<Removed>,
}

impl Partition {
    pub(super) fn begin_clear(&mut self, ready: bool, leased: bool, scheduled: bool, reply: Reply<Removed>) {
        // Above all ids that were ever used.
        let last = self.ids.next();
        let (behind, removed) = (ItemId::MIN, Removed::default());
        let clearing = Clearing { ready, leased, scheduled, behind, last, removed, reply };
        self.inbox.clears.push_back(clearing);
    }

    /// One step; the next follows when others had their turn. Whoever asked may be gone: what was begun is finished.
    pub(super) async fn clear_on(&mut self, mut clearing: Clearing) {
        let Cleared { removed, next } = match self.clear_step(&clearing).await {
            Ok(cleared) => cleared,
            Err(error) if clearing.removed == Removed::default() => return tell(clearing.reply, Err(error)),
            Err(_) => return clearing.give_up(),
        };
        clearing.removed += removed;
        match next.filter(|next| *next < clearing.last) {
            Some(next) => {
                clearing.behind = next;
                self.inbox.clears.push_front(clearing);
            }
            None => tell(clearing.reply, Ok(clearing.removed)),
        }
    }

    async fn clear_step(&mut self, clearing: &Clearing) -> Result<Cleared> {
        let Clearing { ready, leased, scheduled, behind, .. } = *clearing;
        self.require_well()?;
        if leased {
            self.held.forget();
        }
        let cleared = match self.store.clear(ready, leased, scheduled, behind).await {
            // Deleting what is deleted changes nothing, so it is simply done again.
            Err(error @ StoreError::Indeterminate { .. }) => {
                self.mark_failed(&error);
                self.recover().await;
                self.require_well().map_err(|_| unknown("clear", "the answer of the store was lost"))?;
                self.store.clear(ready, leased, scheduled, behind).await
            }
            outcome => outcome,
        };
        let removed = self.removed(cleared.as_ref().map(|cleared| cleared.removed), "clear")?;
        Ok(Cleared { removed, ..cleared.unwrap_or_default() })
    }
}

impl Clearing {
    /// It ends before it is done.
    pub(super) fn give_up(self) {
        if self.removed != Removed::default() {
            tell(self.reply, Err(unknown("clear", "only some of the items are surely deleted")));
        }
    }
}
