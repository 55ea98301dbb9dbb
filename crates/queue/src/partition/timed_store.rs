//! The store of a partition, with a limit on how long it may take.
//!
//! A call that takes longer is dropped: a read failed then, of a write nobody knows.

use std::future::Future;
use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

use leasehold_core::Timestamp;
use metrics::{counter, histogram};

use crate::engine::{Gate, OpenPermit};
use crate::queue::GatedStore;
use crate::store::{
    Change, Cleared, Deadlines, Due, ItemHeader, Listed, Opened, Pick, Placement, Ready, Removed, Result,
    StoreError, StoreStats, Verdict, WriteMax,
};
use crate::{Item, ItemId, PartitionStore};

/// Headers read in one call.
const HEADERS_LEN: usize = 1_000;

pub(super) struct TimedStore {
    store: Box<dyn PartitionStore>,
    gate: Gate,
    timeout: Duration,
    open_timeout: Duration,
}

impl TimedStore {
    pub(super) fn new(store: GatedStore, timeout: Duration, open_timeout: Duration) -> Self {
        let (store, gate) = store;
        TimedStore { store, gate, timeout, open_timeout }
    }

    pub(super) fn gate(&self) -> Gate {
        self.gate.clone()
    }

    pub(super) fn write_max(&self) -> WriteMax {
        self.store.write_max()
    }

    /// `_permit` is that of the gate.
    pub(super) async fn open(&mut self, _permit: OpenPermit) -> Result<Opened> {
        read(self.open_timeout, "open", self.store.open()).await
    }

    pub(super) async fn produce(&mut self, items: &[Item]) -> Result<Vec<Placement>> {
        count_batch("produce", items.len());
        write(self.timeout, "produce", self.store.produce(items)).await
    }

    pub(super) async fn next_ready(&mut self, limit: NonZeroUsize, now: Timestamp) -> Result<Vec<Ready>> {
        read(self.timeout, "next_ready", self.store.next_ready(limit, now)).await
    }

    pub(super) async fn lease(&mut self, picks: &[Pick]) -> Result<Vec<Item>> {
        count_batch("lease", picks.len());
        write(self.timeout, "lease", self.store.lease(picks)).await
    }

    pub(super) async fn change(&mut self, requests: &[&[Change]]) -> Result<Vec<Verdict>> {
        count_batch("change", requests.iter().map(|changes| changes.len()).sum());
        write(self.timeout, "change", self.store.change(requests)).await
    }

    pub(super) async fn due(
        &mut self,
        now: Timestamp,
        max_attempts: u32,
        limit: NonZeroUsize,
    ) -> Result<Vec<Due>> {
        read(self.timeout, "due", self.store.due(now, max_attempts, limit)).await
    }

    pub(super) async fn requeue(&mut self, moves: &[(ItemId, ItemId)]) -> Result<Vec<ItemId>> {
        write(self.timeout, "requeue", self.store.requeue(moves)).await
    }

    /// In pages: each has the time of a call.
    pub(super) async fn headers(&mut self, ids: &[ItemId]) -> Result<Vec<ItemHeader>> {
        let mut headers = Vec::with_capacity(ids.len());
        for page in ids.chunks(HEADERS_LEN) {
            headers.extend(read(self.timeout, "headers", self.store.headers(page)).await?);
        }
        Ok(headers)
    }

    pub(super) async fn fetch(&mut self, ids: &[ItemId]) -> Result<Vec<Item>> {
        read(self.timeout, "fetch", self.store.fetch(ids)).await
    }

    pub(super) async fn remove(&mut self, ids: &[ItemId]) -> Result<Removed> {
        write(self.timeout, "remove", self.store.remove(ids)).await
    }

    pub(super) async fn clear(
        &mut self,
        ready: bool,
        leased: bool,
        scheduled: bool,
        behind: ItemId,
    ) -> Result<Cleared> {
        write(self.timeout, "clear", self.store.clear(ready, leased, scheduled, behind)).await
    }

    /// Awaited beside other calls, in its turn among all lists of the store.
    pub(super) fn list(
        &self,
        scheduled: bool,
        pivot: ItemId,
        limit: usize,
        bytes: usize,
    ) -> impl Future<Output = Result<Listed>> + Send + use<> {
        let (page, gate, timeout) =
            (self.store.list(scheduled, pivot, limit, bytes), self.gate.clone(), self.timeout);
        async move {
            let _permit = gate.list().await;
            read(timeout, "list", page).await
        }
    }

    pub(super) async fn deadlines(&mut self) -> Result<Deadlines> {
        read(self.timeout, "deadlines", self.store.deadlines()).await
    }

    /// Awaited beside other calls, and given as long as an open.
    pub(super) fn stats(&self, now: Timestamp) -> impl Future<Output = Result<StoreStats>> + Send + use<> {
        read(self.open_timeout, "stats", self.store.stats(now))
    }

    pub(super) async fn close(&mut self) {
        if tokio::time::timeout(self.timeout, self.store.close()).await.is_err() {
            tracing::warn!("a partition was not closed in time");
        }
    }
}

/// How many items go into one write: what many small clients gain by sharing one.
fn count_batch(operation: &'static str, items: usize) {
    histogram!("leasehold_queue_batch_items", "operation" => operation).record(items as f64);
}

async fn read<T>(
    timeout: Duration,
    operation: &'static str,
    call: impl Future<Output = Result<T>>,
) -> Result<T> {
    timed(timeout, operation, call, |source| StoreError::Unavailable { operation, source }).await
}

async fn write<T>(
    timeout: Duration,
    operation: &'static str,
    call: impl Future<Output = Result<T>>,
) -> Result<T> {
    timed(timeout, operation, call, |source| StoreError::Indeterminate { operation, source }).await
}

async fn timed<T>(
    timeout: Duration,
    operation: &'static str,
    call: impl Future<Output = Result<T>>,
    late: impl FnOnce(Box<dyn std::error::Error + Send + Sync>) -> StoreError,
) -> Result<T> {
    let started = Instant::now();
    let outcome = match tokio::time::timeout(timeout, call).await {
        Ok(outcome) => outcome,
        Err(elapsed) => Err(late(elapsed.into())),
    };
    histogram!("leasehold_queue_store_seconds", "operation" => operation)
        .record(started.elapsed().as_secs_f64());
    if let Err(error) = &outcome {
        counter!("leasehold_queue_store_errors_total", "operation" => operation, "code" => error.code())
            .increment(1);
    }
    outcome
}
