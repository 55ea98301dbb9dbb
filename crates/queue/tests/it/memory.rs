//! The contract over memory.

use std::sync::Arc;

use async_trait::async_trait;
use leasehold_queue::conformance::Harness;
use leasehold_queue::store::memory::{MemoryQueues, MemoryStore};
use leasehold_queue::{QueueStore, Store, queue_conformance, store_conformance};

#[derive(Default)]
struct Memory {
    queues: MemoryQueues,
}

#[async_trait]
impl Harness for Memory {
    async fn start() -> Self {
        Memory::default()
    }

    fn is_durable(&self) -> bool {
        false
    }

    fn store(&self) -> Arc<dyn Store> {
        Arc::new(MemoryStore::beside(&self.queues))
    }

    fn queues(&self) -> Arc<dyn QueueStore> {
        Arc::new(self.queues.clone())
    }

    async fn restart(self: Box<Self>) -> Box<dyn Harness> {
        Box::new(Memory::default())
    }
}

store_conformance!(Memory);
queue_conformance!(Memory);
