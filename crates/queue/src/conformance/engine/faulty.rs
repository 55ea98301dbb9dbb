//! A store that fails when it is told to.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use leasehold_core::Timestamp;
use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::store::{
    Change, Cleared, Deadlines, Dropped, Due, ItemHeader, LastOwner, ListAnswer, Opened, PartitionId, Pick,
    Placement, Ready, Removed, Result, StatsAnswer, StoreError, Verdict, WriteMax,
};
use crate::{Item, ItemId, Namespace, PartitionStore, QueueInfo, QueueName, QueueStore, Store};

/// How a call fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Nothing is done, and that is known.
    Unavailable,
    /// It is done, and the answer is lost.
    LostAnswer,
    /// Nothing is done, and that is not known.
    LostRequest,
    /// It never answers; nothing is done.
    Hang,
    /// It answers when [`Faults::release`] is called.
    Held,
    /// Nothing is done, and that is known when [`Faults::release`] is called.
    HeldUnavailable,
    /// Another owner has the partition.
    Fenced,
}

/// Which call to fail.
#[derive(Clone, Copy, Debug)]
struct Rule {
    operation: &'static str,
    partition: Option<u32>,
    /// Not before this was called.
    after: Option<&'static str>,
    fault: Fault,
    is_once: bool,
}

/// An operation, how many items it was about, and how many bytes it wrote.
type Written = (&'static str, usize, usize);

/// What fails, and what was called. Clones share both.
#[derive(Clone, Debug, Default)]
pub struct Faults {
    rules: Arc<Mutex<Vec<Rule>>>,
    calls: Arc<Mutex<HashMap<&'static str, usize>>>,
    writes: Arc<Mutex<Vec<Written>>>,
    opens: Arc<AtomicUsize>,
    opens_max: Arc<AtomicUsize>,
    released: Arc<Notify>,
    /// Bytes of contents that were read.
    contents: Arc<AtomicUsize>,
}

impl Faults {
    /// Fails the next call of this operation.
    pub fn once(&self, operation: &'static str, fault: Fault) {
        self.rules.lock().push(Rule { operation, partition: None, after: None, fault, is_once: true });
    }

    /// Fails every call of this operation, of one partition or of all, until [`heal`](Self::heal).
    pub fn always(&self, operation: &'static str, partition: Option<u32>, fault: Fault) {
        self.rules.lock().push(Rule { operation, partition, after: None, fault, is_once: false });
    }

    /// The same once the other operation was called.
    pub fn always_after(&self, other: &'static str, operation: &'static str, fault: Fault) {
        let rule = Rule { operation, partition: None, after: Some(other), fault, is_once: false };
        self.calls.lock().remove(other);
        self.rules.lock().push(rule);
    }

    /// Fails every call of every operation on partitions.
    pub fn everything(&self, partition: Option<u32>, fault: Fault) {
        self.always("", partition, fault);
    }

    /// Nothing fails any more.
    pub fn heal(&self) {
        self.rules.lock().clear();
        self.release();
    }

    /// Lets held calls go on.
    pub fn release(&self) {
        self.released.notify_waiters();
    }

    /// How many faults are waiting for a call.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rules.lock().len()
    }

    /// Whether nothing is to fail.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How often the operation was called since the last time this was asked.
    pub fn take_calls(&self, operation: &str) -> usize {
        self.calls.lock().remove(operation).unwrap_or(0)
    }

    /// How many partitions are being opened.
    #[must_use]
    pub fn opens(&self) -> usize {
        self.opens.load(Ordering::SeqCst)
    }

    /// How many there were at most at the same time.
    #[must_use]
    pub fn opens_max(&self) -> usize {
        self.opens_max.load(Ordering::SeqCst)
    }

    fn opening(&self) -> Opening {
        let opens = self.opens.fetch_add(1, Ordering::SeqCst) + 1;
        self.opens_max.fetch_max(opens, Ordering::SeqCst);
        Opening(self.opens.clone())
    }

    /// The sizes of the writes of this operation since the last time this was asked: items, and bytes of produced ones.
    pub fn take_writes(&self, operation: &str) -> Vec<(usize, usize)> {
        let mut writes = self.writes.lock();
        let (taken, left) = writes.drain(..).partition(|(of, ..)| *of == operation);
        *writes = left;
        taken.into_iter().map(|(_, items, bytes)| (items, bytes)).collect()
    }

    fn written(&self, operation: &'static str, items: usize, bytes: usize) {
        self.writes.lock().push((operation, items, bytes));
    }

    /// How many bytes of contents were read since the last time this was asked.
    pub fn take_contents(&self) -> usize {
        self.contents.swap(0, Ordering::Relaxed)
    }

    fn read(&self, items: Result<Vec<Item>>) -> Result<Vec<Item>> {
        let bytes = items.iter().flatten().map(Item::content_bytes).sum();
        self.contents.fetch_add(bytes, Ordering::Relaxed);
        items
    }

    fn next(&self, operation: &'static str, partition: u32) -> Option<Fault> {
        let mut calls = self.calls.lock();
        *calls.entry(operation).or_default() += 1;
        let mut rules = self.rules.lock();
        let hits = |rule: &Rule| {
            let is_everything = rule.operation.is_empty() && !operation.starts_with("record_");
            (is_everything || rule.operation == operation)
                && rule.partition.is_none_or(|only| only == partition)
                && rule.after.is_none_or(|other| calls.contains_key(other))
        };
        let at = rules.iter().position(hits)?;
        Some(if rules[at].is_once { rules.remove(at).fault } else { rules[at].fault })
    }
}

/// A partition that is being opened.
struct Opening(Arc<AtomicUsize>);

impl Drop for Opening {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// A store behind [`Faults`].
pub(super) struct FaultyStore {
    pub(super) store: Arc<dyn Store>,
    pub(super) faults: Faults,
}

#[async_trait]
impl Store for FaultyStore {
    fn partition(&self, partition: &PartitionId) -> Box<dyn PartitionStore> {
        let store = self.store.partition(partition);
        Box::new(FaultyPartition { store, gate: Gate { id: partition.clone(), faults: self.faults.clone() } })
    }

    fn partition_of(&self, partition: &PartitionId, created_at: Timestamp) -> Box<dyn PartitionStore> {
        let store = self.store.partition_of(partition, created_at);
        Box::new(FaultyPartition { store, gate: Gate { id: partition.clone(), faults: self.faults.clone() } })
    }

    async fn drop_partition(&self, partition: &PartitionId) -> Result<Dropped> {
        let gate = Gate { id: partition.clone(), faults: self.faults.clone() };
        let lost = gate.before("drop").await?;
        let answer = self.store.drop_partition(partition).await;
        lost.map_or(answer, Err)
    }

    async fn last_owner(&self, partition: &PartitionId) -> Result<LastOwner> {
        let gate = Gate { id: partition.clone(), faults: self.faults.clone() };
        let lost = gate.before("last_owner").await?;
        let answer = self.store.last_owner(partition).await;
        lost.map_or(answer, Err)
    }

    async fn drop_leftover(&self, partition: &PartitionId, last_owner: LastOwner) -> Result<Dropped> {
        let gate = Gate { id: partition.clone(), faults: self.faults.clone() };
        let lost = gate.before("drop").await?;
        let answer = self.store.drop_leftover(partition, last_owner).await;
        lost.map_or(answer, Err)
    }
}

/// The records of queues behind [`Faults`].
pub(super) struct FaultyQueues {
    pub(super) queues: Arc<dyn QueueStore>,
    pub(super) faults: Faults,
}

impl FaultyQueues {
    async fn before(&self, operation: &'static str, queue: &QueueName) -> Result<Option<StoreError>> {
        let id = PartitionId { queue: queue.clone(), number: 0 };
        Gate { id, faults: self.faults.clone() }.before(operation).await
    }
}

#[async_trait]
impl QueueStore for FaultyQueues {
    async fn get(&self, name: &QueueName) -> Result<Option<QueueInfo>> {
        let lost = self.before("record_get", name).await?;
        let answer = self.queues.get(name).await;
        lost.map_or(answer, Err)
    }

    async fn add(&self, info: &QueueInfo) -> Result<bool> {
        let lost = self.before("record_add", &info.name).await?;
        let answer = self.queues.add(info).await;
        lost.map_or(answer, Err)
    }

    async fn replace(&self, info: &QueueInfo) -> Result<bool> {
        let lost = self.before("record_replace", &info.name).await?;
        let answer = self.queues.replace(info).await;
        lost.map_or(answer, Err)
    }

    async fn list(&self, namespace: Option<&Namespace>, pivot: &str, limit: usize) -> Result<Vec<QueueInfo>> {
        self.queues.list(namespace, pivot, limit).await
    }

    async fn delete(&self, info: &QueueInfo) -> Result<bool> {
        let lost = self.before("record_delete", &info.name).await?;
        let answer = self.queues.delete(info).await;
        lost.map_or(answer, Err)
    }
}

struct FaultyPartition {
    store: Box<dyn PartitionStore>,
    gate: Gate,
}

/// What calls pass before they reach the store.
#[derive(Clone)]
struct Gate {
    id: PartitionId,
    faults: Faults,
}

impl Gate {
    /// What to answer after the call was made, if anything other than what it answered.
    async fn before(&self, operation: &'static str) -> Result<Option<StoreError>> {
        let source = || "told to".into();
        // Made before the call is counted: whoever sees the count can release it.
        let released = self.faults.released.notified();
        match self.faults.next(operation, self.id.number) {
            None => Ok(None),
            Some(Fault::Unavailable) => Err(StoreError::Unavailable { operation, source: source() }),
            Some(Fault::LostRequest) => Err(StoreError::Indeterminate { operation, source: source() }),
            Some(Fault::LostAnswer) => Ok(Some(StoreError::Indeterminate { operation, source: source() })),
            Some(Fault::Fenced) => Err(StoreError::Fenced { partition: self.id.clone() }),
            Some(Fault::Hang) => std::future::pending().await,
            Some(Fault::Held) => {
                released.await;
                Ok(None)
            }
            Some(Fault::HeldUnavailable) => {
                released.await;
                Err(StoreError::Unavailable { operation, source: source() })
            }
        }
    }
}

macro_rules! faulty {
    ($self:ident, $operation:literal, $call:expr) => {{
        let lost = $self.gate.before($operation).await?;
        let answer = $call.await;
        match lost {
            Some(error) => Err(error),
            None => answer,
        }
    }};
}

#[async_trait]
impl PartitionStore for FaultyPartition {
    fn write_max(&self) -> WriteMax {
        self.store.write_max()
    }

    async fn open(&mut self) -> Result<Opened> {
        let _opening = self.gate.faults.opening();
        faulty!(self, "open", self.store.open())
    }

    async fn produce(&mut self, items: &[Item]) -> Result<Vec<Placement>> {
        let bytes = items.iter().map(Item::bytes).sum();
        self.gate.faults.written("produce", items.len(), bytes);
        faulty!(self, "produce", self.store.produce(items))
    }

    async fn next_ready(&mut self, limit: NonZeroUsize, now: Timestamp) -> Result<Vec<Ready>> {
        faulty!(self, "next_ready", self.store.next_ready(limit, now))
    }

    async fn lease(&mut self, picks: &[Pick]) -> Result<Vec<Item>> {
        self.gate.faults.written("lease", picks.len(), 0);
        let leased = faulty!(self, "lease", self.store.lease(picks));
        self.gate.faults.read(leased)
    }

    async fn change(&mut self, requests: &[&[Change]]) -> Result<Vec<Verdict>> {
        self.gate.faults.written("change", requests.iter().map(|request| request.len()).sum(), 0);
        faulty!(self, "change", self.store.change(requests))
    }

    async fn due(&mut self, now: Timestamp, max_attempts: u32, limit: NonZeroUsize) -> Result<Vec<Due>> {
        faulty!(self, "due", self.store.due(now, max_attempts, limit))
    }

    async fn requeue(&mut self, moves: &[(ItemId, ItemId)]) -> Result<Vec<ItemId>> {
        faulty!(self, "requeue", self.store.requeue(moves))
    }

    async fn headers(&mut self, ids: &[ItemId]) -> Result<Vec<ItemHeader>> {
        faulty!(self, "headers", self.store.headers(ids))
    }

    async fn fetch(&mut self, ids: &[ItemId]) -> Result<Vec<Item>> {
        let items = faulty!(self, "fetch", self.store.fetch(ids));
        self.gate.faults.read(items)
    }

    async fn remove(&mut self, ids: &[ItemId]) -> Result<Removed> {
        faulty!(self, "remove", self.store.remove(ids))
    }

    async fn clear(&mut self, ready: bool, leased: bool, scheduled: bool, behind: ItemId) -> Result<Cleared> {
        faulty!(self, "clear", self.store.clear(ready, leased, scheduled, behind))
    }

    fn list(&self, scheduled: bool, pivot: ItemId, limit: usize, bytes: usize) -> ListAnswer {
        let (gate, answer) = (self.gate.clone(), self.store.list(scheduled, pivot, limit, bytes));
        Box::pin(async move {
            let lost = gate.before("list").await?;
            let answer = answer.await;
            lost.map_or(answer, Err)
        })
    }

    async fn deadlines(&mut self) -> Result<Deadlines> {
        faulty!(self, "deadlines", self.store.deadlines())
    }

    fn stats(&self, now: Timestamp) -> StatsAnswer {
        let (gate, answer) = (self.gate.clone(), self.store.stats(now));
        Box::pin(async move {
            let lost = gate.before("stats").await?;
            let answer = answer.await;
            lost.map_or(answer, Err)
        })
    }

    async fn close(&mut self) {
        self.store.close().await;
    }
}
