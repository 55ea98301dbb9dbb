//! What happens when the store fails, and when it is back.
//!
//! A write that failed surely is undone: nothing happened. One that may have happened is settled by opening the
//! partition anew, which keeps it from happening later, and by looking at the ids it was about.

use std::collections::HashMap;

use super::Partition;
use super::change::{ChangeBatch, Lost};
use super::health::Health;
use super::turn::{Settled, TurnBatch};
use crate::queue::message::Report;
use crate::store::{Result, StoreError, Verdict};
use crate::{Item, ItemId};

impl Partition {
    /// A write has failed. One that may have happened is settled at once if the store lets us, else when it is back;
    /// in a row of failures not before the partition has rested.
    pub(super) async fn failed(&mut self, error: &StoreError, write: TurnBatch) {
        self.mark_failed(error);
        if matches!(error, StoreError::Indeterminate { .. }) {
            // The router must send nothing here while nobody knows how long this takes.
            self.report(Report::default());
            self.unsettled.push(write);
            if self.strikes == 1 {
                self.recover().await;
            }
        } else {
            self.undo(write, error).await;
        }
    }

    /// Takes the partition again, settles what is unsettled, and goes on from what is stored.
    pub(super) async fn recover(&mut self) {
        if let Err(error) = self.reopen().await {
            self.mark_failed(&error);
        }
        self.report(Report::default());
    }

    async fn reopen(&mut self) -> Result<()> {
        let opened = self.store.open().await?;
        self.health = Health::Well;
        self.counts = opened.counts;
        self.deadlines = opened.deadlines;
        self.expired_ready = 0;
        self.rest_until = None;
        self.held.forget();
        self.ids.raise_above(opened.id_max);
        while let Some(write) = self.unsettled.pop() {
            if let Err((error, write)) = self.settle(write).await {
                self.unsettled.push(write);
                return Err(error);
            }
        }
        Ok(())
    }

    /// Looks at what is stored, part by part: where a store has one write for all of them, they agree.
    async fn settle(&mut self, write: TurnBatch) -> Result<(), (StoreError, TurnBatch)> {
        let items = match self.store.fetch(&write.ids()).await {
            Ok(items) => items,
            Err(error) => return Err((error, write)),
        };
        let items: HashMap<ItemId, Item> = items.into_iter().map(|item| (item.id, item)).collect();
        let TurnBatch { produce, mut lease, change } = write;
        let mut settled = Settled::default();
        if let Some(batch) = produce {
            if items.contains_key(&batch.witness()) {
                let direct = self.settle_produce(batch, &mut settled);
                if let Some(lease) = &mut lease {
                    lease.direct = direct;
                }
            } else {
                batch.undo(&mut settled);
            }
        }
        if let Some(batch) = lease {
            let picked = batch.picks.iter().filter_map(|pick| items.get(&pick.id));
            let leased = picked.filter(|item| item.is_leased).cloned().collect();
            self.settle_lease(batch, leased, &mut settled);
        }
        if let Some(batch) = change {
            self.settle_lost_change(batch, &items, &mut settled);
        }
        self.tell(settled).await;
        Ok(())
    }

    fn settle_lost_change(
        &mut self,
        mut batch: ChangeBatch,
        items: &HashMap<ItemId, Item>,
        settled: &mut Settled,
    ) {
        let mut lost = batch.lost(items);
        let undone = batch.split_off(&mut lost, Lost::DidNotHappen);
        let unknown = batch.split_off(&mut lost, Lost::Unknown);
        let source: Box<dyn std::error::Error + Send + Sync> = "the answer of the store was lost".into();
        undone.undo(&StoreError::Unavailable { operation: "change", source }, settled);
        unknown.give_up(settled);
        let verdicts = vec![Verdict::Done; batch.len()];
        self.settle_change(batch, verdicts, settled);
    }

    /// Nothing of it was written.
    pub(super) async fn undo(&mut self, write: TurnBatch, error: &StoreError) {
        let TurnBatch { produce, lease, change } = write;
        let mut settled = Settled::default();
        if let Some(batch) = produce {
            batch.undo(&mut settled);
        }
        if let Some(batch) = lease {
            self.settle_lease(batch, Vec::new(), &mut settled);
        }
        if let Some(batch) = change {
            batch.undo(error, &mut settled);
        }
        self.tell(settled).await;
    }
}
