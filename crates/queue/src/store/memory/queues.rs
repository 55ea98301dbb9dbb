//! The records of queues in memory.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use async_trait::async_trait;
use leasehold_core::Timestamp;
use parking_lot::RwLock;

use super::Partitions;
use crate::store::{QueueStore, Result};
use crate::{Namespace, QueueInfo, QueueName};

/// The records of queues in memory. Clones are handles on the same ones.
#[derive(Clone, Debug, Default)]
pub struct MemoryQueues {
    /// Locked before the partitions.
    pub(super) records: Arc<RwLock<Records>>,
    /// Those in the same place.
    pub(super) partitions: Partitions,
}

pub(super) type Records = BTreeMap<String, QueueInfo>;

/// Whether the record is that of the queue that was created then.
pub(super) fn is_there(records: &Records, name: &QueueName, created_at: Timestamp) -> bool {
    records.get(name.as_str()).is_some_and(|record| record.created_at == created_at)
}

impl MemoryQueues {
    /// No queues.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

#[async_trait]
impl QueueStore for MemoryQueues {
    async fn get(&self, name: &QueueName) -> Result<Option<QueueInfo>> {
        Ok(self.records.read().get(name.as_str()).cloned())
    }

    async fn add(&self, info: &QueueInfo) -> Result<bool> {
        let mut records = self.records.write();
        let free = !records.contains_key(info.name.as_str());
        if free {
            records.insert(info.name.as_str().to_owned(), info.clone());
        }
        Ok(free)
    }

    async fn replace(&self, info: &QueueInfo) -> Result<bool> {
        let mut records = self.records.write();
        let is_there = is_there(&records, &info.name, info.created_at);
        if is_there {
            records.insert(info.name.as_str().to_owned(), info.clone());
        }
        Ok(is_there)
    }

    async fn list(&self, namespace: Option<&Namespace>, pivot: &str, limit: usize) -> Result<Vec<QueueInfo>> {
        let records = self.records.read();
        let from_pivot = records.range::<str, _>((Bound::Included(pivot), Bound::Unbounded));
        let wanted = from_pivot
            .map(|(_, info)| info)
            .filter(|info| namespace.is_none_or(|namespace| info.namespace == *namespace));
        Ok(wanted.take(limit).cloned().collect())
    }

    async fn delete(&self, info: &QueueInfo) -> Result<bool> {
        let mut records = self.records.write();
        let is_there = is_there(&records, &info.name, info.created_at);
        if is_there {
            records.remove(info.name.as_str());
            self.partitions.drop_of(&info.name);
        }
        Ok(is_there)
    }
}
