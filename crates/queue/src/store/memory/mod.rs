//! Items and queues in memory: the reference, and gone with the process.

mod partition;
mod queues;

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use leasehold_core::Timestamp;
use parking_lot::Mutex;

use super::{Dropped, LastOwner, PartitionId, PartitionStore, Result, Store};
use crate::QueueName;
use partition::{Epochs, MemoryPartition, Shared};

pub use queues::MemoryQueues;

/// Partitions in memory. Clones are handles on the same ones.
#[derive(Clone, Debug, Default)]
pub struct MemoryStore {
    partitions: Partitions,
    /// The records of their queues, if they are in the same place.
    records: Option<MemoryQueues>,
}

/// All partitions of a place.
#[derive(Clone, Debug, Default)]
struct Partitions {
    shared: Arc<Mutex<HashMap<PartitionId, Arc<Mutex<Shared>>>>>,
    epochs: Epochs,
}

impl MemoryStore {
    /// An empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// In the same place as the records of queues: a queue and its partitions go in one step.
    #[must_use]
    pub fn beside(records: &MemoryQueues) -> Self {
        MemoryStore { partitions: records.partitions.clone(), records: Some(records.clone()) }
    }

    fn handle(&self, partition: &PartitionId, created_at: Option<Timestamp>) -> Box<dyn PartitionStore> {
        let of_record = self.records.clone().zip(created_at);
        Box::new(MemoryPartition::new(partition.clone(), self.partitions.clone(), of_record))
    }
}

impl Partitions {
    /// The partition, made if it is not there.
    fn made(&self, partition: &PartitionId) -> Arc<Mutex<Shared>> {
        self.shared.lock().entry(partition.clone()).or_default().clone()
    }

    /// Drops all partitions of a queue.
    fn drop_of(&self, queue: &QueueName) {
        self.shared.lock().retain(|partition, shared| {
            let stays = partition.queue != *queue;
            if !stays {
                shared.lock().empty();
            }
            stays
        });
    }
}

#[async_trait]
impl Store for MemoryStore {
    fn partition(&self, partition: &PartitionId) -> Box<dyn PartitionStore> {
        self.handle(partition, None)
    }

    fn partition_of(&self, partition: &PartitionId, created_at: Timestamp) -> Box<dyn PartitionStore> {
        self.handle(partition, Some(created_at))
    }

    async fn drop_partition(&self, partition: &PartitionId) -> Result<Dropped> {
        if let Some(shared) = self.partitions.shared.lock().remove(partition) {
            shared.lock().empty();
        }
        Ok(Dropped::Whole)
    }

    async fn last_owner(&self, partition: &PartitionId) -> Result<LastOwner> {
        Ok(last_owner(self.partitions.shared.lock().get(partition)))
    }

    async fn drop_leftover(&self, partition: &PartitionId, expected: LastOwner) -> Result<Dropped> {
        let mut partitions = self.partitions.shared.lock();
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
