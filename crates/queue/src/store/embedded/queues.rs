//! The records of queues in the file.

use std::ops::Bound;

use async_trait::async_trait;
use leasehold_embedded::Written;
use redb::{ReadableTable, WriteTransaction};

use super::queue_record::{decode, encode};
use super::tables::{self, QUEUES};
use super::{read, unwritten};
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

    /// Writes the record if there is one of its name, or if there is none; whether it did.
    async fn put(&self, operation: &'static str, info: &QueueInfo, replaces: bool) -> Result<bool> {
        let (name, record) = (info.name.clone(), encode(info));
        let written = self.store.write(move |write: &WriteTransaction| {
            let mut queues = write.open_table(QUEUES)?;
            if queues.get(name.as_str())?.is_some() != replaces {
                return Ok(Written::Nothing(false));
            }
            queues.insert(name.as_str(), record.as_slice())?;
            Ok(Written::Changed(true))
        });
        written.await.map_err(|error| unwritten(operation, error))
    }
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

    /// Dropped midway, the record may be gone.
    async fn delete(&self, name: &QueueName) -> Result<()> {
        let name = name.clone();
        let removed = self.store.write(move |write| {
            let removed = write.open_table(QUEUES)?.remove(name.as_str())?.is_some();
            Ok(if removed { Written::Changed(()) } else { Written::Nothing(()) })
        });
        removed.await.map_err(|error| unwritten("delete", error))
    }
}
