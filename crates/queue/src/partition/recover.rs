//! What happens when the store fails, and when it is back.
//!
//! A write that failed surely is undone: nothing happened. One that may have happened is settled by opening the
//! partition again, which keeps it from happening later, and by reading the headers of the items it was about. The
//! outcome is answered as unknown if another server had the partition meanwhile, because the headers then prove nothing,
//! and if the headers cannot be read.

use std::collections::HashMap;

use super::Partition;
use super::change::{ChangeBatch, Lost};
use super::health::Health;
use super::lease::LeaseBatch;
use super::produce::ProduceBatch;
use crate::engine::OpenPermit;
use crate::queue::message::{PartitionMessage, Report};
use crate::store::{ItemHeader, Result, StoreError, Verdict};
use crate::{Item, ItemId, ItemIds};

/// How often a write is tried to be settled. Then its callers get an unknown outcome and the partition goes on: one write
/// must not keep it from serving.
const SETTLE_TRIES: u32 = 3;
const OTHER_OWNER: &str = "another server had the partition meanwhile";
const LOST: &str = "the answer of the store was lost";

/// A write that may have happened.
#[derive(Debug)]
pub(super) enum Unsettled {
    Produce(ProduceBatch),
    Lease(LeaseBatch),
    Change(ChangeBatch),
}

impl Unsettled {
    /// Whether all callers have left.
    fn is_unheard(&self) -> bool {
        match self {
            Unsettled::Produce(batch) => batch.is_unheard(),
            Unsettled::Lease(batch) => batch.is_unheard(),
            Unsettled::Change(batch) => batch.is_unheard(),
        }
    }
}

impl Partition {
    /// A write has failed. One that may have happened is settled at once if the store lets us, else when it is back;
    /// in a row of failures not before the partition has rested.
    pub(super) async fn failed(&mut self, error: &StoreError, write: Unsettled) {
        self.writes_failed = if self.strikes == 0 { 1 } else { self.writes_failed.saturating_add(1) };
        self.mark_failed(error);
        if matches!(error, StoreError::Indeterminate { .. }) {
            self.halve_limit(&write);
            // The router must send nothing here while nobody knows how long this takes.
            self.report(Report::default());
            self.unsettled.push((write, 0));
            if self.strikes == 1 {
                self.recover().await;
            }
        } else {
            self.undo(write, error);
        }
    }

    /// What was too large to be written in time would be so again.
    fn halve_limit(&mut self, write: &Unsettled) {
        let limits = &mut self.limits;
        let (limit, (items, bytes)) = match write {
            Unsettled::Produce(batch) => (&mut limits.produce, batch.size()),
            Unsettled::Lease(batch) => (&mut limits.lease, batch.size()),
            Unsettled::Change(batch) => (&mut limits.change, (batch.items(), 0)),
        };
        limit.halve(items, bytes);
    }

    /// Takes the partition again, settles what is unsettled, and goes on from what is stored. True if it is ours, and
    /// was nobody else's since it was last.
    ///
    /// It waits for its turn among the partitions that are opened; told to stop meanwhile, it does nothing.
    pub(super) async fn recover(&mut self) -> bool {
        let Some(permit) = self.wait_to_open().await else { return false };
        let reopened = self.reopen(permit).await;
        if let Err(error) = &reopened {
            self.mark_failed(error);
        }
        self.report(Report::default());
        reopened.unwrap_or(false)
    }

    async fn wait_to_open(&mut self) -> Option<OpenPermit> {
        let gate = self.store.gate();
        let mut turn = std::pin::pin!(gate.open());
        while !self.stopping {
            let message = tokio::select! {
                biased;
                permit = &mut turn => return Some(permit),
                message = self.links.mailbox.recv() => message.unwrap_or(PartitionMessage::Stop),
            };
            self.take(message);
        }
        None
    }

    async fn reopen(&mut self, permit: OpenPermit) -> Result<bool> {
        let opened = self.store.open(permit).await?;
        self.ids = ItemIds::after(&opened, self.now())?.following(&self.ids);
        self.health = Health::Well;
        self.counts = opened.counts;
        self.deadlines = opened.deadlines;
        self.expired_ready = 0;
        self.rest_until = None;
        self.held.forget();
        if !opened.is_unbroken {
            self.give_up_unsettled();
            self.is_record_due = true;
        }
        if self.is_record_due {
            // The owner in between may know of changes that we do not, or that the queue was deleted.
            self.info = self.links.record.read_again().await?;
            self.is_record_due = false;
        }
        while let Some((write, tries)) = self.unsettled.pop() {
            // What it did, if anything, was read by the open.
            if write.is_unheard() {
                self.give_up(write, LOST);
                continue;
            }
            let Err((error, write)) = self.settle(write).await else { continue };
            let is_fenced = matches!(error, StoreError::Fenced { .. });
            if !is_fenced && tries + 1 >= SETTLE_TRIES {
                let error: &dyn std::error::Error = &error;
                tracing::warn!(queue = %self.id.queue, partition = self.id.number, error, "the outcome of a write stays unknown");
                self.give_up(write, LOST);
                continue;
            }
            self.unsettled.push((write, tries + 1));
            if is_fenced {
                self.give_up_unsettled();
            }
            return Err(error);
        }
        Ok(opened.is_unbroken)
    }

    /// Another was the owner since. It may have leased, completed or returned the very items that a write of ours was
    /// about, so nothing that is found tells whether that write happened.
    fn give_up_unsettled(&mut self) {
        for (write, _) in std::mem::take(&mut self.unsettled) {
            self.give_up(write, OTHER_OWNER);
        }
    }

    fn give_up(&mut self, write: Unsettled, reason: &'static str) {
        match write {
            Unsettled::Produce(batch) => self.give_up_produce(batch, reason),
            Unsettled::Lease(batch) => self.give_up_lease(batch, reason),
            Unsettled::Change(batch) => self.give_up_change(batch, reason),
        }
    }

    async fn settle(&mut self, write: Unsettled) -> Result<(), (StoreError, Unsettled)> {
        let ids = match &write {
            Unsettled::Produce(batch) => vec![batch.witness()],
            Unsettled::Lease(batch) => batch.picks.iter().map(|pick| pick.id).collect(),
            Unsettled::Change(batch) => batch.ids(),
        };
        let headers = match self.store.headers(&ids).await {
            Ok(headers) => headers,
            Err(error) => return Err((error, write)),
        };
        match write {
            Unsettled::Produce(batch) if headers.is_empty() => self.undo_produce(batch),
            Unsettled::Produce(batch) => self.settle_produce(batch),
            Unsettled::Lease(batch) => match self.contents(batch.leased_of(headers)).await {
                Ok(leased) => self.settle_lease(batch, leased),
                Err(error) => return Err((error, Unsettled::Lease(batch))),
            },
            Unsettled::Change(batch) => self.settle_lost_change(batch, headers).await,
        }
        Ok(())
    }

    /// Items of these sizes, as many at a time as one write leases.
    async fn contents(&mut self, items: Vec<(ItemId, usize)>) -> Result<Vec<Item>> {
        let bytes_max = self.config.write_bytes_max;
        let mut contents = Vec::with_capacity(items.len());
        let mut rest = items.as_slice();
        while !rest.is_empty() {
            let mut bytes = 0_usize;
            let fits = |(_, size): &&(ItemId, usize)| {
                bytes = bytes.saturating_add(*size);
                bytes <= bytes_max
            };
            let (page, later) = rest.split_at(rest.iter().take_while(fits).count().max(1));
            let ids: Vec<ItemId> = page.iter().map(|(id, _)| *id).collect();
            contents.extend(self.store.fetch(&ids).await?);
            rest = later;
        }
        Ok(contents)
    }

    async fn settle_lost_change(&mut self, mut batch: ChangeBatch, headers: Vec<ItemHeader>) {
        let headers: HashMap<ItemId, ItemHeader> =
            headers.into_iter().map(|header| (header.id, header)).collect();
        let mut lost = batch.lost(&headers);
        let undone = batch.split_off(&mut lost, Lost::DidNotHappen);
        let unknown = batch.split_off(&mut lost, Lost::Unknown);
        let source: Box<dyn std::error::Error + Send + Sync> = LOST.into();
        self.undo_change(undone, &StoreError::Unavailable { operation: "change", source });
        self.give_up_change(unknown, LOST);
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
