//! The records of queues in the file.

use std::ops::Bound;

use async_trait::async_trait;
use leasehold_core::Timestamp;
use leasehold_embedded::Written;
use redb::{ReadableTable, WriteTransaction};

use super::queue_record::{self, decode, encode};
use super::tables::{self, QUEUES};
use super::{read, sweep, unwritten};
use crate::store::{QueueStore, Result, StoreError};
use crate::{Namespace, QueueInfo, QueueName};

/// The records of queues in a folder. Clones are handles on the same ones.
#[derive(Clone, Debug)]
pub struct EmbeddedQueues {
    store: leasehold_embedded::Store,
}

impl EmbeddedQueues {
    /// Over an open store, which it may share with others. Blocks on the disk if the tables are new.
    ///
    /// # Errors
    /// What the store said.
    pub fn open(store: leasehold_embedded::Store) -> Result<Self> {
        tables::create(&store).map_err(|error| unwritten("open", error))?;
        Ok(EmbeddedQueues { store })
    }

    /// Writes the record if there is one of its queue, or if there is none of its name; whether it did.
    async fn put(&self, operation: &'static str, info: &QueueInfo, replaces: bool) -> Result<bool> {
        let (name, created_at, record) = (info.name.clone(), info.created_at, encode(info));
        let written = self.store.write(move |write: &WriteTransaction| {
            let mut queues = write.open_table(QUEUES)?;
            let may_write = match replaces {
                true => is_there(&queues, &name, created_at)?,
                false => queues.get(name.as_str())?.is_none(),
            };
            if !may_write {
                return Ok(Written::Nothing(false));
            }
            queues.insert(name.as_str(), record.as_slice())?;
            Ok(Written::Changed(true))
        });
        written.await.map_err(|error| unwritten(operation, error))
    }
}

/// Whether the record is that of the queue that was created then.
pub(super) fn is_there(
    queues: &impl ReadableTable<&'static str, &'static [u8]>,
    name: &QueueName,
    created_at: Timestamp,
) -> Result<bool, redb::Error> {
    let record = queues.get(name.as_str())?;
    Ok(record.is_some_and(|record| queue_record::created_at(record.value()) == Ok(created_at)))
}

fn info(name: &str, record: &[u8]) -> Result<QueueInfo> {
    decode(name, record).map_err(|reason| StoreError::Unusable {
        what: format!("the record of queue {name}"),
        reason: reason.to_owned(),
    })
}

#[async_trait]
impl QueueStore for EmbeddedQueues {
    async fn get(&self, name: &QueueName) -> Result<Option<QueueInfo>> {
        let name = name.clone();
        let found = read(&self.store, "get", move |read| {
            let record = read.open_table(QUEUES)?.get(name.as_str())?;
            Ok(record.map(|record| info(name.as_str(), record.value())))
        });
        found.await?.transpose()
    }

    /// Dropped midway, the record may have been added.
    async fn add(&self, info: &QueueInfo) -> Result<bool> {
        self.put("add", info, false).await
    }

    /// Dropped midway, the record may have been replaced.
    async fn replace(&self, info: &QueueInfo) -> Result<bool> {
        self.put("replace", info, true).await
    }

    async fn list(&self, namespace: Option<&Namespace>, pivot: &str, limit: usize) -> Result<Vec<QueueInfo>> {
        let (namespace, pivot) = (namespace.cloned(), pivot.to_owned());
        let page = read(&self.store, "list", move |read| {
            let mut page = Vec::new();
            for entry in
                read.open_table(QUEUES)?.range::<&str>((Bound::Included(&*pivot), Bound::Unbounded))?
            {
                if page.len() == limit {
                    break;
                }
                let (name, record) = entry?;
                let queue = match info(name.value(), record.value()) {
                    Ok(queue) => queue,
                    Err(unusable) => return Ok(Err(unusable)),
                };
                if namespace.as_ref().is_none_or(|namespace| queue.namespace == *namespace) {
                    page.push(queue);
                }
            }
            Ok(Ok(page))
        });
        page.await?
    }

    /// Its partitions go with it; their items in steps, when the next partition is opened or dropped. Dropped midway, the
    /// record may be gone.
    async fn delete(&self, info: &QueueInfo) -> Result<bool> {
        let (name, created_at) = (info.name.clone(), info.created_at);
        let removed = self.store.write(move |write| {
            if !is_there(&write.open_table(QUEUES)?, &name, created_at)? {
                return Ok(Written::Nothing(false));
            }
            write.open_table(QUEUES)?.remove(name.as_str())?;
            sweep::forget_all(write, &name)?;
            Ok(Written::Changed(true))
        });
        removed.await.map_err(|error| unwritten("delete", error))
    }
}
