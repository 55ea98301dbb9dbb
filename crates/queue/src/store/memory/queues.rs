//! The records of queues in memory.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use async_trait::async_trait;
use parking_lot::RwLock;

use crate::store::{QueueStore, Result};
use crate::{Namespace, QueueInfo, QueueName};

/// The records of queues in memory. Clones are handles on the same ones.
#[derive(Clone, Debug, Default)]
pub struct MemoryQueues {
    records: Arc<RwLock<BTreeMap<String, QueueInfo>>>,
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
        let found = records.get_mut(info.name.as_str());
        Ok(found.map(|record| record.clone_from(info)).is_some())
    }

    async fn list(&self, namespace: Option<&Namespace>, pivot: &str, limit: usize) -> Result<Vec<QueueInfo>> {
        let records = self.records.read();
        let from_pivot = records.range::<str, _>((Bound::Included(pivot), Bound::Unbounded));
        let wanted = from_pivot
            .map(|(_, info)| info)
            .filter(|info| namespace.is_none_or(|namespace| info.namespace == *namespace));
        Ok(wanted.take(limit).cloned().collect())
    }

    async fn delete(&self, name: &QueueName) -> Result<()> {
        self.records.write().remove(name.as_str());
        Ok(())
    }
}
