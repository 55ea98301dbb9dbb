//! The store of a partition, with a limit on how long it may take.
//!
//! A call that takes longer is dropped: a read failed then, of a write nobody knows.

use std::future::Future;
use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

use leasehold_core::Timestamp;
use metrics::{counter, histogram};

use crate::store::{
    Change, Deadlines, Due, Opened, Pick, Placement, Removed, Result, StoreError, StoreStats, Turn, Turned,
    Verdict, WriteMax,
};
use crate::{Item, ItemId, PartitionStore};

pub(super) struct TimedStore {
    store: Box<dyn PartitionStore>,
    timeout: Duration,
    open_timeout: Duration,
}

impl TimedStore {
    pub(super) fn new(store: Box<dyn PartitionStore>, timeout: Duration, open_timeout: Duration) -> Self {
        TimedStore { store, timeout, open_timeout }
    }

    pub(super) fn write_max(&self) -> WriteMax {
        self.store.write_max()
    }

    pub(super) async fn open(&mut self) -> Result<Opened> {
        read(self.open_timeout, "open", self.store.open()).await
    }

    pub(super) async fn produce(&mut self, items: &[Item]) -> Result<Vec<Placement>> {
        count_batch("produce", items.len());
        write(self.timeout, "produce", self.store.produce(items)).await
    }

    pub(super) async fn next_ready(&mut self, limit: NonZeroUsize, now: Timestamp) -> Result<Vec<ItemId>> {
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

    /// Parts that are alone go by their own names.
    pub(super) async fn turn(&mut self, turn: &Turn<'_>) -> Turned {
        let Turn { items, picks, requests } = *turn;
        match (items.is_empty(), picks.is_empty(), requests.is_empty()) {
            (false, true, true) => match self.produce(items).await {
                Ok(placements) => Turned { placements: Some(placements), ..Turned::default() },
                Err(error) => Turned::failed(error),
            },
            (true, false, true) => match self.lease(picks).await {
                Ok(leased) => Turned { leased: Some(leased), ..Turned::default() },
                Err(error) => Turned::failed(error),
            },
            (true, true, false) => match self.change(requests).await {
                Ok(verdicts) => Turned { verdicts: Some(verdicts), ..Turned::default() },
                Err(error) => Turned::failed(error),
            },
            _ => self.turn_together(turn).await,
        }
    }

    async fn turn_together(&mut self, turn: &Turn<'_>) -> Turned {
        let changes = turn.requests.iter().map(|changes| changes.len()).sum();
        for (operation, items) in
            [("produce", turn.items.len()), ("lease", turn.picks.len()), ("change", changes)]
        {
            if items > 0 {
                count_batch(operation, items);
            }
        }
        let started = Instant::now();
        let turned = match tokio::time::timeout(self.timeout, self.store.turn(turn)).await {
            Ok(turned) => turned,
            Err(elapsed) => {
                Turned::failed(StoreError::Indeterminate { operation: "turn", source: elapsed.into() })
            }
        };
        observe("turn", started, turned.error.as_ref());
        turned
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

    pub(super) async fn fetch(&mut self, ids: &[ItemId]) -> Result<Vec<Item>> {
        read(self.timeout, "fetch", self.store.fetch(ids)).await
    }

    pub(super) async fn remove(&mut self, ids: &[ItemId]) -> Result<Removed> {
        write(self.timeout, "remove", self.store.remove(ids)).await
    }

    pub(super) async fn clear(&mut self, ready: bool, leased: bool, scheduled: bool) -> Result<Removed> {
        write(self.timeout, "clear", self.store.clear(ready, leased, scheduled)).await
    }

    pub(super) async fn list(&mut self, scheduled: bool, pivot: ItemId, limit: usize) -> Result<Vec<Item>> {
        read(self.timeout, "list", self.store.list(scheduled, pivot, limit)).await
    }

    pub(super) async fn deadlines(&mut self) -> Result<Deadlines> {
        read(self.timeout, "deadlines", self.store.deadlines()).await
    }

    pub(super) async fn stats(&mut self, now: Timestamp) -> Result<StoreStats> {
        read(self.timeout, "stats", self.store.stats(now)).await
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
    observe(operation, started, outcome.as_ref().err());
    outcome
}

fn observe(operation: &'static str, started: Instant, error: Option<&StoreError>) {
    histogram!("leasehold_queue_store_seconds", "operation" => operation)
        .record(started.elapsed().as_secs_f64());
    if let Some(error) = error {
        counter!("leasehold_queue_store_errors_total", "operation" => operation, "code" => error.code())
            .increment(1);
    }
}
