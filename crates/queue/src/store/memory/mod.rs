//! Items and queues in memory: the reference, and gone with the process.

mod partition;
mod queues;

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use parking_lot::Mutex;

use super::{Dropped, LastOwner, PartitionId, PartitionStore, Result, Store};
use partition::{Epochs, MemoryPartition, Shared};

pub use queues::MemoryQueues;

/// Partitions in memory. Clones are handles on the same ones.
#[derive(Clone, Debug, Default)]
pub struct MemoryStore {
    partitions: Arc<Mutex<HashMap<PartitionId, Arc<Mutex<Shared>>>>>,
    epochs: Epochs,
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
        Box::new(MemoryPartition::new(partition.clone(), shared, self.epochs.clone()))
    }

    async fn drop_partition(&self, partition: &PartitionId) -> Result<Dropped> {
        if let Some(shared) = self.partitions.lock().remove(partition) {
            shared.lock().empty();
        }
        Ok(Dropped::Whole)
    }

    async fn last_owner(&self, partition: &PartitionId) -> Result<LastOwner> {
        Ok(last_owner(self.partitions.lock().get(partition)))
    }

    async fn drop_leftover(&self, partition: &PartitionId, expected: LastOwner) -> Result<Dropped> {
        let mut partitions = self.partitions.lock();
        if last_owner(partitions.get(partition)) != expected {
            return Ok(Dropped::Taken);
        }
        if let Some(shared) = partitions.remove(partition) {
            shared.lock().empty();
        }
        Ok(Dropped::Whole)
    }
}

fn last_owner(shared: Option<&Arc<Mutex<Shared>>>) -> LastOwner {
    LastOwner(shared.and_then(|shared| shared.lock().epoch()).map(u128::from))
}
