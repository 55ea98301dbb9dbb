//! One partition in the file, with its line in memory.

use std::num::NonZeroUsize;

use async_trait::async_trait;
use leasehold_core::Timestamp;
use leasehold_embedded::{Store, Written};
use redb::{ReadTransaction, WriteTransaction};

use super::batch::{Batch, Refused};
use super::contents::Contents;
use super::open::{self, Claim};
use super::tables::{EPOCHS, ITEMS};
use super::{blocking, read, sweep, unread, unwritten};
use crate::store::index::{Header, Index};
use crate::store::{
    Change, Cleared, Deadlines, Due, ItemHeader, ListAnswer, Listed, Opened, PartitionId, PartitionStore,
    Pick, Placement, Ready, Removed, Result, StatsAnswer, StoreError, Takeover, Verdict, WriteMax,
};
use crate::{Item, ItemId};

/// A handle on one partition.
#[derive(Debug)]
pub(super) struct EmbeddedPartition {
    store: Store,
    partition: PartitionId,
    /// When its queue was created, if the record is to be looked at.
    created_at: Option<Timestamp>,
    hold: Hold,
    /// The last one it had, whatever became of it since.
    last_claim: Option<Claim>,
}

/// Whether the handle owns the partition.
#[derive(Debug)]
enum Hold {
    Owned(Box<Owned>),
    /// A write failed, or was dropped midway: the line may no longer be what is on the disk.
    Lost,
    /// Not opened yet, closed, or taken over by another.
    None,
}

#[derive(Debug)]
struct Owned {
    claim: Claim,
    line: Index<()>,
}

impl Owned {
    fn batch(&self) -> Batch {
        Batch::new(self.claim.number, self.claim.epoch)
    }
}

impl EmbeddedPartition {
    pub(super) fn new(store: Store, partition: PartitionId, created_at: Option<Timestamp>) -> Self {
        EmbeddedPartition { store, partition, created_at, hold: Hold::None, last_claim: None }
    }

    /// The line, for reading.
    fn line(&self, operation: &'static str) -> Result<&Index<()>> {
        self.owned(operation).map(|owned| &owned.line)
    }

    fn owned(&self, operation: &'static str) -> Result<&Owned> {
        match &self.hold {
            Hold::Owned(owned) => Ok(owned),
            Hold::Lost => Err(self.lost(operation)),
            Hold::None => Err(self.fenced()),
        }
    }

    /// Takes the line out of the handle: it goes back when what was decided on it is durable, and only then.
    fn take(&mut self, operation: &'static str) -> Result<Box<Owned>> {
        match std::mem::replace(&mut self.hold, Hold::Lost) {
            Hold::Owned(owned) => Ok(owned),
            Hold::Lost => Err(self.lost(operation)),
            Hold::None => {
                self.hold = Hold::None;
                Err(self.fenced())
            }
        }
    }

    /// Makes what was decided durable.
    async fn commit(&mut self, operation: &'static str, owned: Box<Owned>, batch: Batch) -> Result<()> {
        let batch = batch.sorted();
        self.write(operation, owned, move |write| batch.write(write)).await
    }

    async fn write<T: Send + 'static>(
        &mut self,
        operation: &'static str,
        owned: Box<Owned>,
        job: impl FnMut(&WriteTransaction) -> Result<Written<Result<T, Refused>>, redb::Error> + Send + 'static,
    ) -> Result<T> {
        match self.store.write(job).await.map_err(|error| unwritten(operation, error))? {
            Ok(answer) => {
                self.hold = Hold::Owned(owned);
                Ok(answer)
            }
            Err(Refused::Fenced) => {
                self.hold = Hold::None;
                Err(self.fenced())
            }
            Err(Refused::Unusable(unusable)) => Err(unusable),
        }
    }

    /// The items with these ids and headers.
    async fn contents(&self, operation: &'static str, headers: Vec<(ItemId, Header)>) -> Result<Vec<Item>> {
        let Hold::Owned(owned) = &self.hold else { return Err(self.fenced()) };
        let claim = owned.claim;
        let items = read(&self.store, operation, move |transaction| contents(transaction, claim, &headers));
        items.await?.unwrap_or_else(|| Err(self.fenced()))
    }

    fn fenced(&self) -> StoreError {
        StoreError::Fenced { partition: self.partition.clone() }
    }

    fn lost(&self, operation: &'static str) -> StoreError {
        StoreError::Unavailable {
            operation,
            source: "an earlier write failed; open the partition again".into(),
        }
    }
}

/// The items with these headers; none if another is the owner, of whom the line knows nothing.
fn contents(
    transaction: &ReadTransaction,
    Claim { number, epoch }: Claim,
    headers: &[(ItemId, Header)],
) -> Result<Option<Result<Vec<Item>>>, redb::Error> {
    let current = transaction.open_table(EPOCHS)?.get(number)?.map(|epoch| epoch.value());
    if current != Some(epoch) {
        return Ok(None);
    }
    let items = transaction.open_table(ITEMS)?;
    let contents = Contents::read(&items, number, headers.iter().map(|(id, _)| *id))?;
    Ok(Some(contents.items(headers)))
}

fn with_headers(line: &Index<()>, ids: &[ItemId]) -> Vec<(ItemId, Header)> {
    ids.iter().filter_map(|id| Some((*id, line.header(*id)?))).collect()
}

/// Of the requests that were carried out.
fn note_changes(batch: &mut Batch, line: &Index<()>, changes: &[Change]) {
    for change in changes {
        match *change {
            Change::Complete { id } => batch.delete(&[id]),
            Change::Return { id, new_id } => batch.move_to(id, new_id, line.header(new_id)),
            Change::Schedule { id, .. } | Change::Expire { id, .. } | Change::Extend { id, .. } => {
                // None if a later change has ended it.
                line.header(id).iter().for_each(|header| batch.change(id, header));
            }
        }
    }
}

#[async_trait]
impl PartitionStore for EmbeddedPartition {
    fn write_max(&self) -> WriteMax {
        WriteMax::NONE
    }

    /// Dropped midway, the partition may have lost its earlier owner, and the handle owns nothing.
    async fn open(&mut self) -> Result<Opened> {
        self.hold = Hold::Lost;
        let (partition, created_at) = (self.partition.clone(), self.created_at);
        let claimed = self.store.write(move |write| open::claim(write, &partition, created_at)).await;
        // Whether it was raised or not: opening again is always right.
        let claim =
            claimed.map_err(|error| StoreError::Unavailable { operation: "open", source: error.into() })?;
        let Some(claim) = claim else {
            self.hold = Hold::None;
            return Err(StoreError::QueueGone { queue: self.partition.queue.clone() });
        };
        let found = read(&self.store, "open", move |read| {
            Ok((open::line(read, claim.number)?, sweep::is_needed(read)?))
        });
        let (line, sweep_is_needed) = found.await?;
        let line = line?;
        let opened = Opened {
            takeover: Takeover::draw(claim.epoch),
            counts: line.counts(),
            id_max: line.id_max(),
            deadlines: line.deadlines(),
            is_unbroken: self.last_claim.is_some_and(|last| claim.follows(&last)),
        };
        self.last_claim = Some(claim);
        self.hold = Hold::Owned(Box::new(Owned { claim, line }));
        if sweep_is_needed && let Err(error) = self.store.submit(sweep::step, drop).await {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "what dropped partitions left stays for now"
            );
        }
        Ok(opened)
    }

    async fn produce(&mut self, items: &[Item]) -> Result<Vec<Placement>> {
        let mut owned = self.take("produce")?;
        let mut batch = owned.batch();
        let place = |item: &Item| {
            let placement = owned.line.place(item, ());
            if placement == Placement::Placed {
                batch.place(item);
            }
            placement
        };
        let placements = items.iter().map(place).collect();
        self.commit("produce", owned, batch).await?;
        Ok(placements)
    }

    async fn next_ready(&mut self, limit: NonZeroUsize, now: Timestamp) -> Result<Vec<Ready>> {
        Ok(self.line("next_ready")?.next_ready(limit, now))
    }

    async fn lease(&mut self, picks: &[Pick]) -> Result<Vec<Item>> {
        let mut owned = self.take("lease")?;
        let mut batch = owned.batch();
        let leased = owned.line.lease(picks);
        leased.iter().for_each(|(id, header)| batch.lease(*id, header));
        let batch = batch.sorted();
        let wanted = leased.clone();
        let job = move |write: &WriteTransaction| batch.write_and_read(write, &wanted);
        self.write("lease", owned, job).await?.items(&leased)
    }

    async fn change(&mut self, requests: &[&[Change]]) -> Result<Vec<Verdict>> {
        let mut owned = self.take("change")?;
        let mut batch = owned.batch();
        let verdicts = owned.line.change(requests);
        for (request, verdict) in requests.iter().zip(&verdicts) {
            if *verdict == Verdict::Done {
                note_changes(&mut batch, &owned.line, request);
            }
        }
        self.commit("change", owned, batch).await?;
        Ok(verdicts)
    }

    async fn due(&mut self, now: Timestamp, max_attempts: u32, limit: NonZeroUsize) -> Result<Vec<Due>> {
        Ok(self.line("due")?.due(now, max_attempts, limit))
    }

    async fn requeue(&mut self, moves: &[(ItemId, ItemId)]) -> Result<Vec<ItemId>> {
        let mut owned = self.take("requeue")?;
        let mut batch = owned.batch();
        let moved = owned.line.requeue(moves);
        for (id, new_id) in &moved {
            batch.move_to(*id, *new_id, owned.line.header(*new_id));
        }
        self.commit("requeue", owned, batch).await?;
        Ok(moved.into_iter().map(|(_, new_id)| new_id).collect())
    }

    async fn headers(&mut self, ids: &[ItemId]) -> Result<Vec<ItemHeader>> {
        let headers = self.line("headers")?.headers(ids);
        // The line knows nothing of another owner.
        self.contents("headers", Vec::new()).await?;
        Ok(headers)
    }

    async fn fetch(&mut self, ids: &[ItemId]) -> Result<Vec<Item>> {
        let headers = with_headers(self.line("fetch")?, ids);
        self.contents("fetch", headers).await
    }

    async fn remove(&mut self, ids: &[ItemId]) -> Result<Removed> {
        let mut owned = self.take("remove")?;
        let mut batch = owned.batch();
        let (removed, found) = owned.line.remove(ids);
        batch.delete(&found);
        self.commit("remove", owned, batch).await?;
        Ok(removed)
    }

    async fn clear(&mut self, ready: bool, leased: bool, scheduled: bool, behind: ItemId) -> Result<Cleared> {
        let mut owned = self.take("clear")?;
        let mut batch = owned.batch();
        let (cleared, found) = owned.line.clear(ready, leased, scheduled, behind);
        batch.delete(&found);
        self.commit("clear", owned, batch).await?;
        Ok(cleared)
    }

    /// The line and the file are looked at in the same instant: no write is under way when this is called.
    fn list(&self, scheduled: bool, pivot: ItemId, limit: usize, bytes: usize) -> ListAnswer {
        let page = self.owned("list").and_then(|owned| {
            let (ids, next) = owned.line.list(scheduled, pivot, limit, bytes);
            let read = self.store.begin_read().map_err(|error| unread("list", error.into()))?;
            Ok((read, owned.claim, with_headers(&owned.line, &ids), next))
        });
        let fenced = self.fenced();
        Box::pin(async move {
            let (read, claim, headers, next) = page?;
            let found = blocking("list", move || contents(&read, claim, &headers)).await?;
            found.map_or(Err(fenced), |items| Ok(Listed { items: items?, next }))
        })
    }

    async fn deadlines(&mut self) -> Result<Deadlines> {
        Ok(self.line("deadlines")?.deadlines())
    }

    fn stats(&self, now: Timestamp) -> StatsAnswer {
        Box::pin(std::future::ready(self.line("stats").map(|line| line.stats(now))))
    }

    async fn close(&mut self) {
        self.hold = Hold::None;
    }
}
