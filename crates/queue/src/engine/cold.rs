//! Looking into queues, and changing them by hand.

use leasehold_core::Timestamp;
use tokio::task::JoinSet;

use super::Engine;
use super::manage::to_its_end;
use crate::queue::message::Cold;
use crate::queue::{Figures, Queue};
use crate::reply::{QueueOverview, QueueStats};
use crate::request::{ClearRequest, GivenId, ImportItem};
use crate::store::Removed;
use crate::{Item, ItemId, QueueName, Refusal, Result};

/// What a limit of zero means.
const LIMIT_DEFAULT: usize = 1_000;

/// How many items one list gives at most: what clients of Querator ask for.
const LIMIT_MAX: usize = 20_000;

/// Which items of a partition to list.
#[derive(Clone, Debug)]
pub struct ListItems<'a> {
    /// The queue.
    pub queue: &'a QueueName,
    /// The partition.
    pub partition: i64,
    /// The id to start at; empty for the first.
    pub pivot: &'a str,
    /// How many at most, up to 20,000; zero for a thousand.
    pub limit: i64,
}

impl Engine {
    /// The figures of a queue, also while it is paused. Of a partition whose store does not answer, the last known.
    ///
    /// # Errors
    /// As every call that names a queue.
    pub async fn stats(&self, queue: &QueueName) -> Result<QueueStats> {
        let queue = self.inner.open(queue).await?;
        let partitions = queue.figures(Cold::Stats, Figures::stats).await?;
        let (waiting, in_flight) = queue.waiting().await?;
        Ok(QueueStats {
            produce_waiting: waiting.produces,
            lease_waiting: waiting.leases,
            complete_waiting: waiting.changes,
            in_flight,
            partitions,
        })
    }

    /// What a console shows of every queue that is open, by name. Queues that are being stopped are left out.
    pub async fn overview(&self) -> Vec<QueueOverview> {
        let mut asked = JoinSet::new();
        for queue in self.inner.open_queues() {
            asked.spawn(async move { overview(&queue).await });
        }
        let mut overviews: Vec<_> = asked.join_all().await.into_iter().flatten().collect();
        overviews.sort_by(|one, other| one.name.cmp(&other.name));
        overviews
    }

    /// Deletes items of all partitions; how many.
    ///
    /// # Errors
    /// [`Refusal::ClearNothing`]; the first failure of a partition, when others may have been cleared.
    pub async fn clear(&self, queue: &QueueName, request: ClearRequest) -> Result<Removed> {
        let queue = self.inner.open(queue).await?;
        let ClearRequest { queue: ready, destructive, scheduled } = request.check()?;
        let leased = ready && destructive;
        let cleared = queue.ask_all(|reply| Cold::Clear { ready, leased, scheduled, reply }).await?;
        let mut total = Removed::default();
        for removed in cleared {
            total += removed?;
        }
        Ok(total)
    }

    /// Reads the record again, which another server may have changed, and opens every partition anew: counts are read
    /// again, failure marks are cleared or set, and a partition that another server had taken is taken back.
    ///
    /// Dropped midway, it is done all the same.
    ///
    /// # Errors
    /// As every call that names a queue; [`Error::QueueNotFound`](crate::Error::QueueNotFound) also if another server
    /// has deleted it.
    pub async fn reload(&self, name: &QueueName) -> Result<()> {
        let (engine, name) = (self.clone(), name.clone());
        to_its_end(async move {
            // A queue that was created since is another one, and is opened instead.
            engine.inner.open(&name).await?.is_there().await?;
            let queue = engine.inner.open(&name).await?;
            queue.update((*queue.info()).clone());
            queue.ask_all(Cold::Reload).await.map(drop)
        })
        .await
    }

    /// Holds produces, leases, completes, retries and extends until [`unpause`](Self::unpause). Pausing twice is the
    /// same as once.
    ///
    /// # Errors
    /// As every call that names a queue.
    pub async fn pause(&self, queue: &QueueName) -> Result<()> {
        self.inner.open(queue).await?.pause(true).await
    }

    /// Serves everything that was held, as one batch.
    ///
    /// # Errors
    /// As every call that names a queue.
    pub async fn unpause(&self, queue: &QueueName) -> Result<()> {
        self.inner.open(queue).await?.pause(false).await
    }

    /// Ready and leased items in order of id. Of more than a thousand, those that change meanwhile may be left out.
    ///
    /// # Errors
    /// [`Refusal::PartitionUnknown`], a pivot that is no id, [`Refusal::LimitTooLarge`], [`Refusal::ListTooLong`], or what
    /// the store said.
    pub async fn list_items(&self, request: ListItems<'_>) -> Result<Vec<Item>> {
        self.list(request, false).await
    }

    /// Scheduled items in order of id.
    ///
    /// # Errors
    /// As [`list_items`](Self::list_items).
    pub async fn list_scheduled(&self, request: ListItems<'_>) -> Result<Vec<Item>> {
        self.list(request, true).await
    }

    async fn list(&self, request: ListItems<'_>, scheduled: bool) -> Result<Vec<Item>> {
        let queue = self.inner.open(request.queue).await?;
        let partition = queue.partition(request.partition)?;
        let pivot = match request.pivot.trim() {
            "" => ItemId::MIN,
            _ => request.pivot.parse()?,
        };
        let limit = match usize::try_from(request.limit) {
            Ok(0) => LIMIT_DEFAULT,
            Ok(limit) if limit > LIMIT_MAX => return Err(Refusal::LimitTooLarge { limit: LIMIT_MAX }.into()),
            Ok(limit) => limit,
            Err(_) => return Ok(Vec::new()),
        };
        queue.ask(partition, |reply| Cold::List { scheduled, pivot, limit, reply }).await?
    }

    /// Puts items into a partition as they are, in order, under new ids; returns them as stored. Of one whose source
    /// id is known the id of the item that is there.
    ///
    /// Dropped midway, they may be stored or not.
    ///
    /// # Errors
    /// [`Refusal::PartitionUnknown`], [`Refusal::ImportEmpty`], or what the store said.
    pub async fn import_items(
        &self,
        queue: &QueueName,
        partition: i64,
        items: Vec<ImportItem>,
    ) -> Result<Vec<Item>> {
        let queue = self.inner.open(queue).await?;
        let partition = queue.partition(partition)?;
        if items.is_empty() {
            return Err(Refusal::ImportEmpty.into());
        }
        items.iter().try_for_each(ImportItem::check)?;
        let items = items.into_iter().map(imported).collect();
        queue.ask(partition, |reply| Cold::Add { items, reply }).await?
    }

    /// Deletes items by id, leased or not; unknown ids are fine.
    ///
    /// Dropped midway, they may be deleted or not.
    ///
    /// # Errors
    /// [`Refusal::PartitionUnknown`], [`Refusal::DeleteEmpty`], the first id that is none: nothing is deleted then.
    pub async fn delete_items(
        &self,
        queue: &QueueName,
        partition: i64,
        ids: Vec<GivenId>,
    ) -> Result<Removed> {
        let queue = self.inner.open(queue).await?;
        let partition = queue.partition(partition)?;
        if ids.is_empty() {
            return Err(Refusal::DeleteEmpty.into());
        }
        let ids = ids.into_iter().map(GivenId::parsed).collect::<Result<Vec<_>, _>>()?;
        queue.ask(partition, |reply| Cold::Remove { ids, reply }).await?
    }
}

async fn overview(queue: &Queue) -> Result<QueueOverview> {
    let partitions = queue.figures(Cold::Overview, Figures::overview).await?;
    let (waiting, in_flight) = queue.waiting().await?;
    Ok(QueueOverview { name: queue.name.clone(), lease_waiting: waiting.leases, in_flight, partitions })
}

/// Id and creation are the partition's to give. Deadlines that are left out read as the epoch.
fn imported(item: ImportItem) -> Item {
    Item {
        id: ItemId::MIN,
        source_id: item.source_id.filter(|source_id| !source_id.is_empty()),
        is_leased: item.is_leased,
        lease_deadline: Some(item.lease_deadline.unwrap_or(Timestamp::EPOCH)),
        expire_deadline: item.expire_deadline.unwrap_or(Timestamp::EPOCH),
        enqueue_at: None,
        created_at: Timestamp::EPOCH,
        attempts: item.attempts,
        max_attempts: item.max_attempts,
        reference: item.reference,
        encoding: item.encoding,
        kind: item.kind,
        payload: item.payload,
    }
}
