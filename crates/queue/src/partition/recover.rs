//! What happens when the store fails, and when it is back.
//!
//! A write that failed surely is undone: nothing happened. One that may have happened is settled by opening the
//! partition anew, which keeps it from happening later, and by looking at the ids it was about. If another had the
//! partition meanwhile the look tells nothing, and the outcome is answered as unknown.

use std::collections::HashMap;

use super::Partition;
use super::change::{ChangeBatch, Lost};
use super::health::Health;
use super::lease::LeaseBatch;
use super::produce::ProduceBatch;
use crate::queue::message::Report;
use crate::store::{Result, StoreError, Verdict};
use crate::{Item, ItemId};

/// A write that may have happened.
#[derive(Debug)]
pub(super) enum Unsettled {
    Produce(ProduceBatch),
    Lease(LeaseBatch),
    Change(ChangeBatch),
}

impl Partition {
    /// A write has failed. One that may have happened is settled at once if the store lets us, else when it is back;
    /// in a row of failures not before the partition has rested.
    pub(super) async fn failed(&mut self, error: &StoreError, write: Unsettled) {
        self.writes_failed = if self.strikes == 0 { 1 } else { self.writes_failed.saturating_add(1) };
        self.mark_failed(error);
        if matches!(error, StoreError::Indeterminate { .. }) {
            // The router must send nothing here while nobody knows how long this takes.
            self.report(Report::default());
            self.unsettled.push(write);
            if self.strikes == 1 {
                self.recover().await;
            }
        } else {
            self.undo(write, error);
        }
    }

    /// Takes the partition again, settles what is unsettled, and goes on from what is stored. True if it is ours, and
    /// was nobody else's since it was last.
    pub(super) async fn recover(&mut self) -> bool {
        let reopened = self.reopen().await;
        if let Err(error) = &reopened {
            self.mark_failed(error);
        }
        self.report(Report::default());
        reopened.unwrap_or(false)
    }

    async fn reopen(&mut self) -> Result<bool> {
        let opened = self.store.open().await?;
        self.health = Health::Well;
        self.counts = opened.counts;
        self.deadlines = opened.deadlines;
        self.expired_ready = 0;
        self.rest_until = None;
        self.held.forget();
        self.ids.raise_above(opened.id_max);
        if !opened.is_unbroken {
            self.give_up_unsettled();
            // Whoever had the partition may have been told of changes that we were not.
            self.info = self.links.record.read_again().await;
        }
        while let Some(write) = self.unsettled.pop() {
            if let Err((error, write)) = self.settle(write).await {
                self.unsettled.push(write);
                if matches!(error, StoreError::Fenced { .. }) {
                    self.give_up_unsettled();
                }
                return Err(error);
            }
        }
        Ok(opened.is_unbroken)
    }

    /// Another was the owner since. It may have leased, completed or returned the very items that a write of ours was
    /// about, so nothing that is found tells whether that write happened.
    fn give_up_unsettled(&mut self) {
        for write in std::mem::take(&mut self.unsettled) {
            match write {
                Unsettled::Produce(batch) => self.give_up_produce(batch),
                Unsettled::Lease(batch) => self.give_up_lease(batch),
                Unsettled::Change(batch) => self.give_up_change(batch),
            }
        }
    }

    async fn settle(&mut self, write: Unsettled) -> Result<(), (StoreError, Unsettled)> {
        let ids = match &write {
            Unsettled::Produce(batch) => vec![batch.witness()],
            Unsettled::Lease(batch) => batch.picks.iter().map(|pick| pick.id).collect(),
            Unsettled::Change(batch) => batch.ids(),
        };
        let items = match self.store.fetch(&ids).await {
            Ok(items) => items,
            Err(error) => return Err((error, write)),
        };
        match write {
            Unsettled::Produce(batch) if items.is_empty() => self.undo_produce(batch),
            Unsettled::Produce(batch) => self.settle_produce(batch),
            Unsettled::Lease(batch) => {
                let leased = batch.leased_of(items);
                self.settle_lease(batch, leased);
            }
            Unsettled::Change(batch) => self.settle_lost_change(batch, items).await,
        }
        Ok(())
    }

    async fn settle_lost_change(&mut self, mut batch: ChangeBatch, items: Vec<Item>) {
        let items: HashMap<ItemId, Item> = items.into_iter().map(|item| (item.id, item)).collect();
        let mut lost = batch.lost(&items);
        let undone = batch.split_off(&mut lost, Lost::DidNotHappen);
        let unknown = batch.split_off(&mut lost, Lost::Unknown);
        let source: Box<dyn std::error::Error + Send + Sync> = "the answer of the store was lost".into();
        self.undo_change(undone, &StoreError::Unavailable { operation: "change", source });
        self.give_up_change(unknown);
        let verdicts = vec![Verdict::Done; batch.len()];
        self.settle_change(batch, verdicts).await;
    }

    fn undo(&mut self, write: Unsettled, error: &StoreError) {
        match write {
            Unsettled::Produce(batch) => self.undo_produce(batch),
            Unsettled::Lease(batch) => self.undo_lease(batch),
            Unsettled::Change(batch) => self.undo_change(batch, error),
        }
    }
}
