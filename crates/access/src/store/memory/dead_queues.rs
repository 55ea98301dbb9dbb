use async_trait::async_trait;
use leasehold_queue::QueueName;

use super::MemoryStore;
use crate::DeadQueuePair;
use crate::store::{DeadQueueStore, Result};

#[async_trait]
impl DeadQueueStore for MemoryStore {
    async fn permit(&self, pair: &DeadQueuePair) -> Result<()> {
        self.tables.write().dead_queues.insert(pair.queue.clone(), pair.clone());
        Ok(())
    }

    async fn is_permitted(&self, pair: &DeadQueuePair) -> Result<bool> {
        Ok(self.tables.read().dead_queues.get(&pair.queue) == Some(pair))
    }

    async fn forget(&self, queue: &QueueName) -> Result<()> {
        self.tables.write().dead_queues.remove(queue);
        Ok(())
    }
}
