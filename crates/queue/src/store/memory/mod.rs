//! Items and queues in memory: the reference, and gone with the process.

mod partition;
mod queues;

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use parking_lot::Mutex;

use super::{PartitionId, PartitionStore, Result, Store};
use partition::{MemoryPartition, Shared};

pub use queues::MemoryQueues;

/// Partitions in memory. Clones are handles on the same ones.
#[derive(Clone, Debug, Default)]
pub struct MemoryStore {
    partitions: Arc<Mutex<HashMap<PartitionId, Arc<Mutex<Shared>>>>>,
}

impl MemoryStore {
    /// An empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

#[async_trait]
impl Store for MemoryStore {
    fn partition(&self, partition: &PartitionId) -> Box<dyn PartitionStore> {
        let shared = self.partitions.lock().entry(partition.clone()).or_default().clone();
        Box::new(MemoryPartition::new(partition.clone(), shared))
    }

    async fn drop_partition(&self, partition: &PartitionId) -> Result<()> {
        if let Some(shared) = self.partitions.lock().remove(partition) {
            shared.lock().empty();
        }
        Ok(())
    }
}
