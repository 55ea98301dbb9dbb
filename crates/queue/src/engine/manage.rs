//! Creating, changing and deleting queues, each to its end: a caller who leaves does not stop it halfway.

use std::future::Future;
use std::sync::{Arc, Weak};
use std::time::Duration;

use leasehold_core::Timestamp;
use tokio::sync::MutexGuard;
use tokio::time::Instant;
use tracing::Instrument;

use super::{Engine, Inner, Placement, UnknownStores, placement, stop, unknown_store};
use crate::queue::message::Cold;
use crate::store::{Dropped, PartitionId};
use crate::{
    Error, Namespace, PartitionInfo, QueueChange, QueueInfo, QueueName, Refusal, Result, StoreError,
};

/// How often a create looks again when another server does something with the same name.
const CREATE_TRIES: u32 = 8;
const LIST_LIMIT_DEFAULT: usize = 1_000;
const LIST_LIMIT_MAX: usize = 65_536;

/// By how much a record that is changed is later than it was, at least.
const TICK: Duration = Duration::from_micros(1);

/// Runs it in a task of its own, so that it ends although its caller leaves.
pub(super) async fn to_its_end<T: Send + 'static>(
    work: impl Future<Output = Result<T>> + Send + 'static,
) -> Result<T> {
    match tokio::spawn(work.in_current_span()).await {
        Ok(answer) => answer,
        Err(ended) => match ended.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            // The runtime ends.
            Err(_) => Err(Error::EngineStopping),
        },
    }
}

/// Reads the record until it shows this write, true then, or was read after `until` and does not: a write that was cut comes
/// no later. What is read is put in force.
async fn read_until_known(engine: Weak<Inner>, info: QueueInfo, until: Instant) -> bool {
    let mut tries = 0;
    while let Some(engine) = engine.upgrade()
        && engine.check_running().is_ok()
    {
        let is_last = Instant::now() > until;
        match engine.look("get", engine.records.get(&info.name)).await {
            Ok(Some(stored)) => {
                engine.put_in_force(&stored).await;
                // A later record was made from the one before ours, or from ours: which of the two it does not show.
                let is_create = info.updated_at == info.created_at;
                let is_ours = stored.created_at == info.created_at
                    && (is_create
                        || (stored.updated_at == info.updated_at && stored.options == info.options));
                if is_ours || stored.updated_at > info.updated_at {
                    return is_ours;
                }
            }
            Ok(None) => {}
            Err(error) => {
                tracing::warn!(queue = %info.name, %error, "the record of a queue could not be read");
                tries += 1;
                let wait = engine.config.backoff.after(tries);
                drop(engine);
                tokio::time::sleep(wait).await;
                continue;
            }
        }
        if is_last {
            return false;
        }
        let wait = engine.config.backoff.after(0);
        drop(engine);
        tokio::time::sleep(wait).await;
    }
    false
}

impl Engine {
    /// Creates a queue; when it returns the queue serves. Items that an earlier queue of this name left behind are
    /// dropped.
    ///
    /// Dropped midway, it is created all the same, unless a rule is broken.
    ///
    /// # Errors
    /// The first rule that is broken, or [`Error::QueueExists`].
    pub async fn create_queue(
        &self,
        name: QueueName,
        namespace: Namespace,
        change: QueueChange,
    ) -> Result<QueueInfo> {
        self.create_placed_queue(name, namespace, change, &Placement::default()).await
    }

    /// As [`create_queue`](Self::create_queue), with partitions where they are wanted.
    ///
    /// # Errors
    /// As there, or [`Error::StoreUnknown`].
    pub async fn create_placed_queue(
        &self,
        name: QueueName,
        namespace: Namespace,
        change: QueueChange,
        placement: &Placement,
    ) -> Result<QueueInfo> {
        let (engine, placement) = (self.clone(), placement.clone());
        to_its_end(async move { engine.create(name, namespace, change, &placement).await }).await
    }

    async fn create(
        &self,
        name: QueueName,
        namespace: Namespace,
        change: QueueChange,
        placement: &Placement,
    ) -> Result<QueueInfo> {
        let inner = &*self.inner;
        let _managing = inner.manage().await?;
        if let Some(queue) = inner.opened(&name) {
            if queue.is_there().await? {
                return Err(Error::QueueExists { name });
            }
            inner.note_deleted(queue.info().created_at);
        }
        inner.check_dead_queue(&name, change.dead_queue.as_ref()).await?;
        let options = change.create()?;
        let stores = inner.stores.iter().map(|named| (named.name.as_str(), named.affinity));
        let mut partitions = placement::place(stores, placement, options.requested_partitions)?;
        inner.check_stores(&name, &partitions)?;
        if let Some(given) = inner.given_store_name().await? {
            partitions.iter_mut().for_each(|partition| partition.store.clone_from(given));
        }
        let now = inner.created_at();
        let info = QueueInfo { name, namespace, options, partitions, created_at: now, updated_at: now };

        // Before the record can be seen: whoever sees it may store something at once.
        inner.drop_leftovers(&info).await?;
        match inner.timed("add", inner.records.add(&info)).await {
            Ok(true) => {}
            Ok(false) => return Err(Error::QueueExists { name: info.name }),
            Err(lost @ Error::Indeterminate { .. }) => self.settle_record(&info, lost).await?,
            Err(error) => return Err(error),
        }
        // What cannot be opened now is opened when it can: the queue exists all the same.
        if let Ok(queue) = inner.open(&info.name).await {
            drop(tokio::time::timeout(inner.config.storage_timeout, queue.ask_all(Cold::Opened)).await);
        }
        Ok(info)
    }

    /// Changes a queue: the merged record is stored, and the queue goes on with it.
    ///
    /// Dropped midway, the change is made all the same, unless a rule is broken.
    ///
    /// # Errors
    /// [`Error::QueueNotFound`], or the first rule that the merged record breaks. After [`Error::Indeterminate`] the
    /// record is read until it shows what became of the change, and the queue goes on with what is stored.
    pub async fn update_queue(&self, name: &QueueName, change: QueueChange) -> Result<QueueInfo> {
        let (engine, name) = (self.clone(), name.clone());
        to_its_end(async move { engine.update(&name, change).await }).await
    }

    async fn update(&self, name: &QueueName, change: QueueChange) -> Result<QueueInfo> {
        let inner = &*self.inner;
        let _managing = inner.manage().await?;
        let mut info = inner.record(name).await?;
        inner.check_dead_queue(name, change.dead_queue.as_ref()).await?;
        info.options = change.merge(&info.options)?;
        // Later than it was, whatever the clock shows: of two records the later one is in force.
        info.updated_at = inner.config.clock.now().max(info.updated_at.saturating_add(TICK));
        match inner.timed("replace", inner.records.replace(&info)).await {
            Ok(true) => inner.put_in_force(&info).await,
            Ok(false) => return Err(Error::QueueNotFound { name: name.clone() }),
            Err(lost @ Error::Indeterminate { .. }) => self.settle_record(&info, lost).await?,
            Err(error) => return Err(error),
        }
        Ok(info)
    }

    /// The answer to a write of this record was lost. Ok if it is stored; the error if that does not show in time. The
    /// record is read on then, and the queue goes on with what is stored.
    async fn settle_record(&self, info: &QueueInfo, lost: Error) -> Result<()> {
        let timeout = self.inner.config.storage_timeout;
        let until = Instant::now() + timeout;
        let reading = read_until_known(Arc::downgrade(&self.inner), info.clone(), until);
        match tokio::time::timeout_at(until, tokio::spawn(reading.in_current_span())).await {
            Ok(Ok(true)) => Ok(()),
            _ => Err(lost),
        }
    }

    /// Deletes a queue with all its items. Waiting callers get an error that it is stopping. Items that the store could not
    /// drop are left to the next queue of that name, which begins by dropping them.
    ///
    /// Dropped midway, it is deleted all the same.
    ///
    /// # Errors
    /// [`Error::QueueNotFound`], or what the store said.
    pub async fn delete_queue(&self, name: &QueueName) -> Result<()> {
        let (engine, name) = (self.clone(), name.clone());
        to_its_end(async move { engine.delete(&name).await }).await
    }

    async fn delete(&self, name: &QueueName) -> Result<()> {
        let inner = &*self.inner;
        let _managing = inner.manage().await?;
        let info = inner.record(name).await?;
        // Its items could not be dropped anywhere else.
        info.partitions.iter().try_for_each(|partition| inner.store(name, partition).map(drop))?;
        let _closing = Closing::new(inner, name);
        let cell = inner.queues.write().remove(name);
        if let Some(cell) = cell {
            stop(&cell, inner.config.shutdown_grace).await;
        }
        inner.note_deleted(info.created_at);
        // The record goes first: a server that has read it opens nothing any more.
        if !inner.timed("delete", inner.records.delete(&info)).await? {
            return Err(Error::QueueNotFound { name: name.clone() });
        }
        match inner.drop_leftovers(&info).await {
            // The create of the next one has dropped them.
            Ok(()) | Err(Error::QueueExists { .. }) => {}
            Err(error) => {
                let error: &dyn std::error::Error = &error;
                tracing::warn!(queue = %name, error, "items of a deleted queue are left in the store");
            }
        }
        Ok(())
    }

    /// The record of a queue as it is stored.
    ///
    /// # Errors
    /// [`Error::QueueNotFound`], or what the store said.
    pub async fn queue_info(&self, name: &QueueName) -> Result<QueueInfo> {
        self.inner.check_running()?;
        self.inner.record(name).await
    }

    /// Records in order of name from the pivot on; zero as limit means a thousand.
    ///
    /// # Errors
    /// A limit or pivot that cannot be right, or what the store said.
    pub async fn list_queues(
        &self,
        namespace: Option<&Namespace>,
        pivot: &str,
        limit: i64,
    ) -> Result<Vec<QueueInfo>> {
        self.inner.check_running()?;
        let limit = match usize::try_from(limit) {
            Ok(0) => LIST_LIMIT_DEFAULT,
            Ok(limit) if limit > LIST_LIMIT_MAX => {
                return Err(Refusal::LimitTooLarge { limit: LIST_LIMIT_MAX }.into());
            }
            Ok(limit) => limit,
            Err(_) => return Err(Refusal::LimitNegative.into()),
        };
        if pivot.contains('~') {
            return Err(Refusal::PivotTilde { pivot: pivot.to_owned() }.into());
        }
        self.inner.look("list", self.inner.records.list(namespace, pivot.trim(), limit)).await
    }
}

impl Inner {
    async fn manage(&self) -> Result<MutexGuard<'_, ()>> {
        let managing = self.managing.lock().await;
        self.check_running()?;
        Ok(managing)
    }

    /// The queue goes on with this record if it is open.
    async fn put_in_force(&self, info: &QueueInfo) {
        let cell = self.queues.read().get(&info.name).cloned();
        let Some(cell) = cell else { return };
        // One that is just being opened may have read an earlier record.
        if let Ok(queue) = cell.get_or_try_init(|| async { Err(()) }).await {
            queue.update(info.clone());
        }
    }

    fn check_running(&self) -> Result<()> {
        if self.stopping.load(std::sync::atomic::Ordering::Acquire) {
            Err(Error::EngineStopping)
        } else {
            Ok(())
        }
    }

    async fn record(&self, name: &QueueName) -> Result<QueueInfo> {
        let found = self.look("get", self.records.get(name)).await?;
        found.ok_or_else(|| Error::QueueNotFound { name: name.clone() })
    }

    /// A partition is only placed where there is a store of that very name.
    fn check_stores(&self, queue: &QueueName, partitions: &[PartitionInfo]) -> Result<()> {
        let is_known =
            |partition: &&PartitionInfo| self.stores.iter().any(|named| named.name == partition.store);
        match partitions.iter().find(|partition| !is_known(partition)) {
            None => Ok(()),
            Some(partition) => Err(unknown_store(queue, partition)),
        }
    }

    /// Returns why items that die in `queue` may not be moved to the dead queue, as it is stored now.
    pub(crate) async fn undeliverable(&self, queue: &QueueInfo, dead_queue: &QueueName) -> Option<String> {
        let rule = self.config.dead_queue_rule.as_ref()?;
        let dead_queue = match self.record(dead_queue).await {
            Ok(dead_queue) => dead_queue,
            Err(error) => return Some(error.to_string()),
        };
        let asked = rule.may_deliver(queue, &dead_queue);
        match tokio::time::timeout(self.config.storage_timeout, asked).await {
            Ok(Ok(true)) => None,
            Ok(Ok(false)) => Some(
                "it is in another namespace, and was not named for this queue by a caller who may produce there; update \
                 the queue to name it again"
                    .to_owned(),
            ),
            Ok(Err(error)) => Some(error.to_string()),
            Err(elapsed) => Some(elapsed.to_string()),
        }
    }

    /// The name that records of another server, such as Querator, have for our only store. That server looks for new
    /// partitions by the same name. Read once.
    async fn given_store_name(&self) -> Result<Option<&String>> {
        if self.config.unknown_stores == UnknownStores::Refused {
            return Ok(None);
        }
        let find = || async {
            let mut pivot = String::new();
            loop {
                let listed = self.look("list", self.records.list(None, &pivot, LIST_LIMIT_DEFAULT)).await?;
                let mut partitions = listed.iter().flat_map(|info| &info.partitions);
                let given = partitions.find(|partition| {
                    !partition.store.is_empty() && self.stores.iter().all(|own| own.name != partition.store)
                });
                match (given, listed.last()) {
                    (Some(given), _) => return Ok(Some(given.store.clone())),
                    (None, Some(last)) if listed.len() == LIST_LIMIT_DEFAULT => {
                        pivot = format!("{}\u{1}", last.name);
                    }
                    (None, _) => return Ok(None),
                }
            }
        };
        self.given_store_name.get_or_try_init(find).await.map(Option::as_ref)
    }

    /// Tells a queue from all that were deleted here.
    fn created_at(&self) -> Timestamp {
        let first = self.deleted.lock().saturating_add(std::time::Duration::from_micros(1));
        self.config.clock.now().max(first)
    }

    fn note_deleted(&self, created_at: Timestamp) {
        let mut deleted = self.deleted.lock();
        *deleted = created_at.max(*deleted);
    }

    /// A dead queue is another one, exists, and has none of its own.
    async fn check_dead_queue(&self, name: &QueueName, dead_queue: Option<&QueueName>) -> Result<()> {
        let Some(dead_queue) = dead_queue else {
            return Ok(());
        };
        if dead_queue == name {
            return Err(Refusal::DeadQueueSelf.into());
        }
        let text = || dead_queue.as_str().to_owned();
        match self.look("get", self.records.get(dead_queue)).await? {
            None => Err(Refusal::DeadQueueMissing { name: text() }.into()),
            Some(info) if info.options.dead_queue.is_some() => {
                Err(Refusal::DeadQueueChained { name: text() }.into())
            }
            Some(_) => Ok(()),
        }
    }

    /// Drops what an earlier queue of this name left behind. Another server may be creating it at the same time, and be
    /// faster: what it has taken over since is not ours to drop, and then its record is there.
    async fn drop_leftovers(&self, info: &QueueInfo) -> Result<()> {
        let mut tries = 0;
        while tries < CREATE_TRIES {
            let mut leftovers = Vec::with_capacity(info.partitions.len());
            for partition in &info.partitions {
                let id = PartitionId { queue: info.name.clone(), number: partition.number };
                let store = self.store(&info.name, partition)?;
                let last_owner = self.look("last_owner", store.last_owner(&id)).await?;
                leftovers.push((store, id, last_owner));
            }
            if self.look("get", self.records.get(&info.name)).await?.is_some() {
                return Err(Error::QueueExists { name: info.name.clone() });
            }
            let mut dropped = Vec::with_capacity(leftovers.len());
            for (store, id, last_owner) in leftovers {
                dropped.push(self.timed("drop", store.drop_leftover(&id, last_owner)).await?);
            }
            if dropped.iter().all(|one| *one == Dropped::Whole) {
                return Ok(());
            }
            tries += u32::from(dropped.contains(&Dropped::Taken));
        }
        let source = "other servers create and delete it at the same time".into();
        Err(Error::Storage(StoreError::Unavailable { operation: "create", source }))
    }
}

/// Keeps a queue from being opened while it is taken apart.
struct Closing<'a> {
    engine: &'a Inner,
    name: &'a QueueName,
}

impl<'a> Closing<'a> {
    fn new(engine: &'a Inner, name: &'a QueueName) -> Self {
        engine.closed.lock().insert(name.clone());
        Closing { engine, name }
    }
}

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        self.engine.closed.lock().remove(self.name);
    }
}
