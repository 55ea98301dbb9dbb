//! Requests that are not part of the stream of items: figures, lists, imports, deletions.

use std::num::NonZeroUsize;

use leasehold_core::Timestamp;

use super::Partition;
use super::health::repeat;
use super::list::Listing;
use crate::call::unknown;
use crate::queue::message::{Cold, Report, tell};
use crate::reply::PartitionOverview;
use crate::store::{Placement, Removed, StoreError, WriteMax};
use crate::{Item, ItemId, Refusal, Result};

impl Partition {
    /// Serves one request. Whoever asked may be gone.
    pub(super) async fn cold(&mut self, cold: Cold) {
        match cold {
            Cold::Opened(reply) => tell(reply, ()),
            Cold::Stats(reply) => self.stats(reply),
            Cold::Overview(reply) => tell(reply, self.overview().await),
            Cold::List { scheduled, pivot, limit, reply } => {
                self.list_on(Listing::new(scheduled, pivot, limit, reply));
            }
            Cold::Add { items, reply } => tell(reply, self.add(items).await),
            Cold::Deposit { items, reply } => tell(reply, self.deposit(items).await),
            Cold::Remove { ids, reply } => tell(reply, self.remove(&ids).await),
            Cold::Clear { ready, leased, scheduled, reply } => {
                self.begin_clear(ready, leased, scheduled, reply);
            }
            Cold::Reload(reply) => {
                // Whoever asks for it has seen what failed before.
                self.writes_failed = 0;
                self.recover().await;
                tell(reply, ());
            }
            Cold::Updated => {
                // The dying may have another place to go, or none.
                self.rest_until = None;
                self.move_dying().await;
            }
        }
    }

    async fn overview(&mut self) -> PartitionOverview {
        let now = self.now();
        let oldest = match self.health.is_well() && self.counts.ready > 0 {
            true => self.oldest_ready(now).await,
            false => None,
        };
        self.report(Report::default());
        PartitionOverview {
            oldest_ready_age: oldest.map(|created_at| now.saturating_since(created_at)),
            ..self.links.figures.overview()
        }
    }

    async fn oldest_ready(&mut self, now: Timestamp) -> Option<Timestamp> {
        let looked = async {
            let ready = self.store.next_ready(NonZeroUsize::MIN, now).await?;
            match ready.first() {
                Some(first) => self.store.headers(&[first.id]).await,
                None => Ok(Vec::new()),
            }
        };
        match looked.await {
            Ok(headers) => headers.first().map(|header| header.created_at),
            Err(error) => {
                self.read_failed(&error);
                None
            }
        }
    }

    /// Stores imported items under new ids; returns them with the ids under which they are stored.
    async fn add(&mut self, mut items: Vec<Item>) -> Result<Vec<Item>> {
        self.require_well()?;
        let now = self.now();
        for item in &mut items {
            item.id = self.ids.next();
            item.created_at = now;
        }
        let placements = self.place(&items, "import").await?;
        for (item, placement) in items.iter_mut().zip(placements) {
            if let Placement::Known(id) = placement {
                item.id = id;
            }
        }
        Ok(items)
    }

    /// Stores the dead of another queue as new items of this one.
    async fn deposit(&mut self, items: Vec<Item>) -> Result<()> {
        self.require_well()?;
        let now = self.now();
        let expire_deadline = now.saturating_add(self.info.options.expire_timeout);
        let items: Vec<Item> = items
            .into_iter()
            .map(|dead| Item {
                source_id: Some(dead.id.to_string()),
                id: self.ids.next(),
                is_leased: false,
                lease_deadline: None,
                expire_deadline,
                enqueue_at: None,
                created_at: now,
                attempts: 0,
                ..dead
            })
            .collect();
        self.place(&items, "move").await.map(drop)
    }

    /// In as many writes as it takes: whoever brings items from elsewhere can bring them again.
    async fn place(&mut self, items: &[Item], operation: &'static str) -> Result<Vec<Placement>> {
        let max = self.store.write_max();
        fits(items, &max)?;
        let max = WriteMax { bytes: max.bytes.min(self.config.write_bytes_max), ..max };
        let mut placements = Vec::with_capacity(items.len());
        let mut rest = items;
        while !rest.is_empty() {
            let (some, later) = rest.split_at(max.fitting(rest));
            match self.place_some(some, operation).await {
                Ok(placed) => placements.extend(placed),
                Err(error) if placements.is_empty() => return Err(error),
                Err(_) => return Err(unknown(operation, "only the first of the items are surely stored")),
            }
            rest = later;
        }
        Ok(placements)
    }

    /// A write whose answer was lost is repeated if it did not happen: the ids are the same, so nothing doubles.
    async fn place_some(&mut self, items: &[Item], operation: &'static str) -> Result<Vec<Placement>> {
        let placed = match self.store.produce(items).await {
            Err(StoreError::Indeterminate { operation: call, source }) => {
                self.mark_failed(&StoreError::Indeterminate { operation: call, source });
                // Another owner may have given the items away: stored again, they would be there twice.
                if !self.recover().await {
                    return Err(unknown(operation, "another server may have given the items away meanwhile"));
                }
                self.place_rest(items, operation).await?
            }
            Err(error) => return Err(self.cold_failed(&error, operation)),
            Ok(placements) => {
                let stored =
                    items.iter().zip(&placements).filter(|(_, placed)| **placed == Placement::Placed);
                self.count_produced(stored.map(|(item, _)| item));
                placements
            }
        };
        self.report(Report::default());
        Ok(placed)
    }

    async fn place_rest(&mut self, items: &[Item], operation: &'static str) -> Result<Vec<Placement>> {
        let lost = || unknown(operation, "the store failed and did not come back in time");
        let ids: Vec<ItemId> = items.iter().map(|item| item.id).collect();
        let here = match self.store.headers(&ids).await {
            Ok(here) => here,
            Err(error) => {
                self.mark_failed(&error);
                self.report(Report::default());
                return Err(lost());
            }
        };
        let mut here = here.into_iter().map(|header| header.id).peekable();
        let missing: Vec<Item> =
            items.iter().filter(|item| here.next_if_eq(&item.id).is_none()).cloned().collect();
        let mut placements = match missing.is_empty() {
            true => Vec::new(),
            false => match self.store.produce(&missing).await {
                Ok(placements) => placements,
                Err(error) => {
                    self.mark_failed(&error);
                    self.report(Report::default());
                    return Err(lost());
                }
            },
        }
        .into_iter();
        let placed_now: Vec<&Item> = missing
            .iter()
            .zip(placements.as_slice())
            .filter(|(_, placed)| **placed == Placement::Placed)
            .map(|(item, _)| item)
            .collect();
        self.count_produced(placed_now);
        let mut missing = missing.iter().peekable();
        let all = items.iter().map(|item| match missing.next_if(|missing| missing.id == item.id) {
            Some(_) => placements.next().unwrap_or(Placement::Placed),
            None => Placement::Placed,
        });
        Ok(all.collect())
    }

    async fn remove(&mut self, ids: &[ItemId]) -> Result<Removed> {
        self.require_well()?;
        self.held.remove(ids.iter().copied());
        let removed = match self.store.remove(ids).await {
            // Deleting what is deleted changes nothing, so it is simply done again.
            Err(error @ StoreError::Indeterminate { .. }) => {
                self.mark_failed(&error);
                self.recover().await;
                self.require_well().map_err(|_| unknown("delete", "the answer of the store was lost"))?;
                self.store.remove(ids).await
            }
            outcome => outcome,
        };
        self.removed(removed.as_ref().copied(), "delete")
    }

    pub(super) fn removed(
        &mut self,
        removed: Result<Removed, &StoreError>,
        operation: &'static str,
    ) -> Result<Removed> {
        let removed = removed.map_err(|error| self.cold_failed(error, operation))?;
        self.count_removed(removed);
        self.report(Report::default());
        Ok(removed)
    }

    fn cold_failed(&mut self, error: &StoreError, operation: &'static str) -> crate::Error {
        self.mark_failed(error);
        self.report(Report::default());
        match error {
            StoreError::Indeterminate { .. } => unknown(operation, "the answer of the store was lost"),
            error => repeat(error, operation),
        }
    }
}

/// Whether the store can hold each of the items.
fn fits(items: &[Item], max: &WriteMax) -> Result<()> {
    for item in items {
        max.refuse(std::iter::once(item.bytes()))?;
        if item.source_id.as_ref().is_some_and(|source_id| source_id.len() > max.source_id_bytes) {
            return Err(Refusal::TextLength { field: "source_id", limit: max.source_id_bytes }.into());
        }
    }
    Ok(())
}
