//! One partition in memory.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use bytes::Bytes;
use leasehold_core::Timestamp;
use parking_lot::Mutex;

use super::Partitions;
use super::queues::{MemoryQueues, is_there};
use crate::store::index::{Header, Index};
use crate::store::{
    Change, Cleared, Deadlines, Due, ItemHeader, ListAnswer, Listed, Opened, PartitionId, PartitionStore,
    Pick, Placement, Ready, Removed, Result, StatsAnswer, StoreError, Takeover, Verdict, WriteMax,
};
use crate::{Item, ItemId};

/// What handles on one partition share.
#[derive(Debug, Default)]
pub(super) struct Shared {
    index: Index<Box<Content>>,
    /// Of whoever opened the partition last: an earlier owner's writes are refused. None if nobody did.
    epoch: Option<u64>,
}

impl Shared {
    /// Forgets everything, and every owner.
    pub(super) fn empty(&mut self) {
        *self = Shared::default();
    }

    pub(super) fn epoch(&self) -> Option<u64> {
        self.epoch
    }
}

/// Gives out epochs, none of them twice, not even to a partition that was dropped and made anew.
#[derive(Clone, Debug, Default)]
pub(super) struct Epochs(Arc<AtomicU64>);

impl Epochs {
    pub(super) fn next(&self) -> u64 {
        self.0.fetch_add(1, Ordering::Relaxed)
    }
}

/// What never changes about an item.
#[derive(Debug)]
struct Content {
    source_id: Option<String>,
    max_attempts: i32,
    reference: String,
    encoding: String,
    kind: String,
    payload: Bytes,
}

impl Content {
    fn of(item: &Item) -> Self {
        Content {
            source_id: item.source_id.clone(),
            max_attempts: item.max_attempts,
            reference: item.reference.clone(),
            encoding: item.encoding.clone(),
            kind: item.kind.clone(),
            payload: item.payload.clone(),
        }
    }

    fn item(&self, id: ItemId, header: &Header) -> Item {
        let mut item = Item {
            id,
            source_id: self.source_id.clone(),
            is_leased: false,
            lease_deadline: None,
            expire_deadline: header.expire_deadline,
            enqueue_at: None,
            created_at: header.created_at,
            attempts: header.attempts,
            max_attempts: self.max_attempts,
            reference: self.reference.clone(),
            encoding: self.encoding.clone(),
            kind: self.kind.clone(),
            payload: self.payload.clone(),
        };
        header.fill(&mut item);
        item
    }
}

/// A handle on one partition.
#[derive(Debug)]
pub(super) struct MemoryPartition {
    partition: PartitionId,
    partitions: Partitions,
    /// The records, and when the queue was created.
    of_record: Option<(MemoryQueues, Timestamp)>,
    /// None until it is opened; another one if it was dropped since.
    shared: Arc<Mutex<Shared>>,
    epoch: Option<u64>,
}

impl MemoryPartition {
    pub(super) fn new(
        partition: PartitionId,
        partitions: Partitions,
        of_record: Option<(MemoryQueues, Timestamp)>,
    ) -> Self {
        MemoryPartition { partition, partitions, of_record, shared: Arc::default(), epoch: None }
    }

    fn read<T>(&self, read: impl FnOnce(&Index<Box<Content>>) -> T) -> Result<T> {
        self.write(|index| read(index))
    }

    /// Reads are refused to an earlier owner too: what it would see is not its own.
    fn write<T>(&self, write: impl FnOnce(&mut Index<Box<Content>>) -> T) -> Result<T> {
        let mut shared = self.shared.lock();
        if self.epoch.is_none() || self.epoch != shared.epoch {
            return Err(StoreError::Fenced { partition: self.partition.clone() });
        }
        Ok(write(&mut shared.index))
    }
}

fn items(index: &Index<Box<Content>>, ids: &[ItemId]) -> Vec<Item> {
    ids.iter()
        .filter_map(|id| index.content(*id).map(|(header, content)| content.item(*id, header)))
        .collect()
}

#[async_trait]
impl PartitionStore for MemoryPartition {
    fn write_max(&self) -> WriteMax {
        WriteMax::NONE
    }

    async fn open(&mut self) -> Result<Opened> {
        // Held to the end: no record goes while its partition is opened.
        let records =
            self.of_record.as_ref().map(|(queues, created_at)| (queues.records.read(), *created_at));
        let queue = &self.partition.queue;
        if records.as_ref().is_some_and(|(records, created_at)| !is_there(records, queue, *created_at)) {
            return Err(StoreError::QueueGone { queue: queue.clone() });
        }
        self.shared = self.partitions.made(&self.partition);
        let mut shared = self.shared.lock();
        let is_unbroken = self.epoch.is_some() && self.epoch == shared.epoch;
        let takeover = Takeover::draw(self.partitions.epochs.next());
        shared.epoch = Some(takeover.epoch);
        self.epoch = shared.epoch;
        let index = &shared.index;
        Ok(Opened {
            takeover,
            counts: index.counts(),
            id_max: index.id_max(),
            deadlines: index.deadlines(),
            is_unbroken,
        })
    }

    async fn produce(&mut self, items: &[Item]) -> Result<Vec<Placement>> {
        self.write(|index| items.iter().map(|item| index.place(item, Box::new(Content::of(item)))).collect())
    }

    async fn next_ready(&mut self, limit: NonZeroUsize, now: Timestamp) -> Result<Vec<Ready>> {
        self.read(|index| index.next_ready(limit, now))
    }

    async fn lease(&mut self, picks: &[Pick]) -> Result<Vec<Item>> {
        self.write(|index| {
            let leased: Vec<_> = index.lease(picks).into_iter().map(|(id, _)| id).collect();
            items(index, &leased)
        })
    }

    async fn change(&mut self, requests: &[&[Change]]) -> Result<Vec<Verdict>> {
        self.write(|index| index.change(requests))
    }

    async fn due(&mut self, now: Timestamp, max_attempts: u32, limit: NonZeroUsize) -> Result<Vec<Due>> {
        self.read(|index| index.due(now, max_attempts, limit))
    }

    async fn requeue(&mut self, moves: &[(ItemId, ItemId)]) -> Result<Vec<ItemId>> {
        self.write(|index| index.requeue(moves).into_iter().map(|(_, new_id)| new_id).collect())
    }

    async fn headers(&mut self, ids: &[ItemId]) -> Result<Vec<ItemHeader>> {
        self.read(|index| index.headers(ids))
    }

    async fn fetch(&mut self, ids: &[ItemId]) -> Result<Vec<Item>> {
        self.read(|index| items(index, ids))
    }

    async fn remove(&mut self, ids: &[ItemId]) -> Result<Removed> {
        self.write(|index| index.remove(ids).0)
    }

    async fn clear(&mut self, ready: bool, leased: bool, scheduled: bool, behind: ItemId) -> Result<Cleared> {
        self.write(|index| index.clear(ready, leased, scheduled, behind).0)
    }

    fn list(&self, scheduled: bool, pivot: ItemId, limit: usize, bytes: usize) -> ListAnswer {
        let page = self.read(|index| {
            let (ids, next) = index.list(scheduled, pivot, limit, bytes);
            Listed { items: items(index, &ids), next }
        });
        Box::pin(std::future::ready(page))
    }

    async fn deadlines(&mut self) -> Result<Deadlines> {
        self.read(Index::deadlines)
    }

    fn stats(&self, now: Timestamp) -> StatsAnswer {
        Box::pin(std::future::ready(self.read(|index| index.stats(now))))
    }

    async fn close(&mut self) {
        self.epoch = None;
    }
}
