//! One partition in the hands of one owner.

use std::num::NonZeroUsize;
use std::sync::Arc;

use async_trait::async_trait;
use leasehold_core::Timestamp;
use leasehold_txn::Operation;
use leasehold_txn::tokio_postgres::Row;
use tokio::sync::Semaphore;

use super::floors::Floors;
use super::place::{Place, Value};
use super::script::Script;
use super::statements::Statements;
use super::upkeep::Upkeep;
use super::window::Window;
use super::{change, due, lease, list, open, produce, remove, requeue, stats};
use crate::store::{
    Change, Cleared, Deadlines, Due, ItemHeader, ListAnswer, Opened, PartitionStore, Pick, Placement, Ready,
    Removed, Result, StatsAnswer, StoreError, Verdict, WriteMax,
};
use crate::{Item, ItemId};

#[derive(Debug)]
pub(in crate::store) struct PostgresPartition {
    pub(in crate::store) place: Arc<Place>,
    /// None until it is opened, and again after a write whose outcome is not known: only a new epoch tells what became
    /// of it.
    epoch: Option<i64>,
    /// The last one it was told, whatever became of it since.
    last_epoch: Option<i64>,
    pub(super) window: Window,
    pub(super) floors: Floors,
    pub(super) upkeep: Upkeep,
}

impl PostgresPartition {
    pub(in crate::store) fn new(place: Arc<Place>, permits: Arc<Semaphore>) -> Self {
        let upkeep = Upkeep::new(place.clone(), permits);
        let (window, floors) = (Window::new(), Floors::none());
        PostgresPartition { place, epoch: None, last_epoch: None, window, floors, upkeep }
    }

    /// Runs a write of the owner. Dropped midway, or with an unknown outcome, the handle is nobody's until it is opened.
    pub(in crate::store) async fn write(
        &mut self,
        operation: Operation,
        script: fn(&Statements) -> &Script,
        values: &[Value<'_>],
    ) -> Result<Vec<Row>> {
        let epoch = self.epoch.take().ok_or_else(|| self.place.fenced())?;
        let script = script(&self.place.statements);
        let answer = self.place.write(operation, epoch, script, values).await;
        if !matches!(answer, Err(StoreError::Indeterminate { .. } | StoreError::Fenced { .. })) {
            self.epoch = Some(epoch);
        }
        answer
    }

    /// Reads what the owner sees.
    pub(in crate::store) async fn read(
        &self,
        operation: Operation,
        script: fn(&Statements) -> &Script,
        values: &[Value<'_>],
    ) -> Result<Vec<Row>> {
        self.epoch()?;
        self.place.read(operation, script(&self.place.statements), values).await
    }

    /// Reads what is surely the owner's: nobody had taken over when it was read.
    pub(in crate::store) async fn read_owned(
        &mut self,
        operation: Operation,
        script: fn(&Statements) -> &Script,
        values: &[Value<'_>],
    ) -> Result<Vec<Row>> {
        let epoch = self.epoch()?;
        let answer = self.place.read_owned(operation, epoch, script(&self.place.statements), values).await;
        if matches!(answer, Err(StoreError::Fenced { .. })) {
            self.epoch = None;
        }
        answer
    }

    /// Tells a write that found no row from one that was not the owner's.
    pub(in crate::store) async fn assert_owned(&mut self, operation: Operation) -> Result<()> {
        let asserted = self.place.assert_owned(operation, self.epoch()?).await;
        if matches!(asserted, Err(StoreError::Fenced { .. })) {
            self.epoch = None;
        }
        asserted
    }

    pub(in crate::store) fn epoch(&self) -> Result<i64> {
        self.epoch.ok_or_else(|| self.place.fenced())
    }
}

#[async_trait]
impl PartitionStore for PostgresPartition {
    fn write_max(&self) -> WriteMax {
        self.place.write_max()
    }

    async fn open(&mut self) -> Result<Opened> {
        self.epoch = None;
        let (taken, mut opened) = open::open(&self.place).await?;
        opened.is_unbroken = taken.replaced.is_some() && taken.replaced == self.last_epoch;
        (self.epoch, self.last_epoch) = (Some(taken.epoch), Some(taken.epoch));
        self.window = if opened.counts.ready == 0 { Window::at_tail() } else { Window::new() };
        self.floors = Floors::of(&opened.deadlines);
        self.upkeep.opened(&opened.counts);
        Ok(opened)
    }

    async fn produce(&mut self, items: &[Item]) -> Result<Vec<Placement>> {
        produce::produce(self, items).await
    }

    async fn next_ready(&mut self, limit: NonZeroUsize, now: Timestamp) -> Result<Vec<Ready>> {
        lease::next_ready(self, limit.get(), now).await
    }

    async fn lease(&mut self, picks: &[Pick]) -> Result<Vec<Item>> {
        lease::lease(self, picks).await
    }

    async fn change(&mut self, requests: &[&[Change]]) -> Result<Vec<Verdict>> {
        change::change(self, requests).await
    }

    async fn due(&mut self, now: Timestamp, max_attempts: u32, limit: NonZeroUsize) -> Result<Vec<Due>> {
        due::due(self, now, max_attempts, limit).await
    }

    async fn requeue(&mut self, moves: &[(ItemId, ItemId)]) -> Result<Vec<ItemId>> {
        requeue::requeue(self, moves).await
    }

    async fn headers(&mut self, ids: &[ItemId]) -> Result<Vec<ItemHeader>> {
        list::headers(self, ids).await
    }

    async fn fetch(&mut self, ids: &[ItemId]) -> Result<Vec<Item>> {
        list::fetch(self, ids).await
    }

    async fn remove(&mut self, ids: &[ItemId]) -> Result<Removed> {
        remove::remove(self, ids).await
    }

    async fn clear(&mut self, ready: bool, leased: bool, scheduled: bool, behind: ItemId) -> Result<Cleared> {
        remove::clear(self, ready, leased, scheduled, behind).await
    }

    fn list(&self, scheduled: bool, pivot: ItemId, limit: usize, bytes: usize) -> ListAnswer {
        let (epoch, place) = (self.epoch(), self.place.clone());
        Box::pin(async move {
            epoch?;
            list::list(&place, scheduled, pivot, limit, bytes).await
        })
    }

    async fn deadlines(&mut self) -> Result<Deadlines> {
        due::deadlines(self).await
    }

    fn stats(&self, now: Timestamp) -> StatsAnswer {
        let (epoch, place) = (self.epoch(), self.place.clone());
        Box::pin(async move {
            epoch?;
            stats::stats(&place, now).await
        })
    }

    async fn close(&mut self) {
        self.epoch = None;
        self.window = Window::new();
        self.upkeep.stop().await;
    }
}
