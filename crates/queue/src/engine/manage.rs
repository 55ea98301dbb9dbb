//! Creating, changing and deleting queues.

use super::{Closed, Engine, Inner, placement, stop};
use crate::queue::message::Cold;
use crate::store::PartitionId;
use crate::{Error, Namespace, QueueChange, QueueInfo, QueueName, Refusal, Result};

const LIST_LIMIT_DEFAULT: usize = 1_000;
const LIST_LIMIT_MAX: i64 = 65_536;

impl Engine {
    /// Creates a queue; when it returns the queue serves. Items that an earlier queue of this name left behind are
    /// dropped.
    ///
    /// Dropped midway, the queue may exist or not.
    ///
    /// # Errors
    /// The first rule that is broken, or [`Error::QueueExists`].
    pub async fn create_queue(
        &self,
        name: QueueName,
        namespace: Namespace,
        change: QueueChange,
    ) -> Result<QueueInfo> {
        let inner = &*self.inner;
        let _managing = inner.manage().await?;
        if inner.is_open(&name) {
            return Err(Error::QueueExists { name });
        }
        inner.check_dead_queue(&name, change.dead_queue.as_ref()).await?;
        let options = change.create()?;
        let stores = inner.stores.iter().map(|named| (named.name.as_str(), named.affinity));
        let partitions = placement::place(stores, options.requested_partitions)?;
        let now = inner.config.clock.now();
        let info = QueueInfo { name, namespace, options, partitions, created_at: now, updated_at: now };

        let exists = || Error::QueueExists { name: info.name.clone() };
        if inner.timed("get", inner.records.get(&info.name)).await?.is_some() {
            return Err(exists());
        }
        let closing = Closing::new(inner, &info.name, Closed::BeingCreated);
        // Another server may have been faster; then its partitions are not ours to drop.
        if !inner.timed("add", inner.records.add(&info)).await? {
            return Err(exists());
        }
        if let Err(error) = inner.drop_partitions(&info).await {
            // A queue that might show old items must not be.
            inner.timed("delete", inner.records.delete(&info.name)).await?;
            return Err(error);
        }
        drop(closing);
        let queue = inner.open(&info.name).await?;
        let opened = queue.ask_all(Cold::Opened);
        // A partition that cannot be opened now is so when it can: the queue exists all the same.
        drop(tokio::time::timeout(inner.config.storage_timeout, opened).await);
        Ok(info)
    }

    /// Changes a queue: the merged record is stored, and the queue goes on with it.
    ///
    /// Dropped midway, the change may be made or not.
    ///
    /// # Errors
    /// [`Error::QueueNotFound`], or the first rule that the merged record breaks.
    pub async fn update_queue(&self, name: &QueueName, change: QueueChange) -> Result<QueueInfo> {
        let inner = &*self.inner;
        let _managing = inner.manage().await?;
        let mut info = inner.record(name).await?;
        inner.check_dead_queue(name, change.dead_queue.as_ref()).await?;
        info.options = change.merge(&info.options)?;
        info.updated_at = inner.config.clock.now().max(info.created_at);
        if !inner.timed("replace", inner.records.replace(&info)).await? {
            return Err(Error::QueueNotFound { name: name.clone() });
        }
        if let Some(queue) = inner.opened(name) {
            queue.update(info.clone()).await?;
        }
        Ok(info)
    }

    /// Deletes a queue with all its items. Whoever waits for it is told that it is stopping.
    ///
    /// Dropped midway, or failed, the queue may be there with some of its items gone; it can be deleted again.
    ///
    /// # Errors
    /// [`Error::QueueNotFound`], or what the store said.
    pub async fn delete_queue(&self, name: &QueueName) -> Result<()> {
        let inner = &*self.inner;
        let _managing = inner.manage().await?;
        let info = inner.record(name).await?;
        let _closing = Closing::new(inner, name, Closed::BeingDeleted);
        let cell = inner.queues.write().remove(name);
        if let Some(cell) = cell {
            stop(&cell, inner.config.shutdown_grace).await;
        }
        inner.drop_partitions(&info).await?;
        inner.timed("delete", inner.records.delete(name)).await
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
        if limit > LIST_LIMIT_MAX {
            return Err(Refusal::LimitTooLarge.into());
        }
        let limit = match usize::try_from(limit) {
            Ok(0) => LIST_LIMIT_DEFAULT,
            Ok(limit) => limit,
            Err(_) => return Err(Refusal::LimitNegative.into()),
        };
        if pivot.contains('~') {
            return Err(Refusal::PivotTilde { pivot: pivot.to_owned() }.into());
        }
        self.inner.timed("list", self.inner.records.list(namespace, pivot.trim(), limit)).await
    }
}

impl Inner {
    async fn manage(&self) -> Result<tokio::sync::MutexGuard<'_, ()>> {
        let managing = self.managing.lock().await;
        self.check_running()?;
        Ok(managing)
    }

    fn check_running(&self) -> Result<()> {
        if self.stopping.load(std::sync::atomic::Ordering::Acquire) {
            Err(Error::EngineStopping)
        } else {
            Ok(())
        }
    }

    async fn record(&self, name: &QueueName) -> Result<QueueInfo> {
        let found = self.timed("get", self.records.get(name)).await?;
        found.ok_or_else(|| Error::QueueNotFound { name: name.clone() })
    }

    fn is_open(&self, name: &QueueName) -> bool {
        self.opened(name).is_some()
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
        match self.timed("get", self.records.get(dead_queue)).await? {
            None => Err(Refusal::DeadQueueMissing { name: text() }.into()),
            Some(info) if info.options.dead_queue.is_some() => {
                Err(Refusal::DeadQueueChained { name: text() }.into())
            }
            Some(_) => Ok(()),
        }
    }

    async fn drop_partitions(&self, info: &QueueInfo) -> Result<()> {
        for partition in &info.partitions {
            let id = PartitionId { queue: info.name.clone(), number: partition.number };
            let store = self.store(&info.name, partition)?;
            self.timed("drop", store.drop_partition(&id)).await?;
        }
        Ok(())
    }
}

/// Keeps a queue from being opened while it is made or taken apart.
struct Closing<'a> {
    engine: &'a Inner,
    name: &'a QueueName,
}

impl<'a> Closing<'a> {
    fn new(engine: &'a Inner, name: &'a QueueName, why: Closed) -> Self {
        engine.closed.lock().insert(name.clone(), why);
        Closing { engine, name }
    }
}

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        self.engine.closed.lock().remove(self.name);
    }
}
