//! The contract over memory.

use std::sync::Arc;

use leasehold_queue::conformance::Harness;
use leasehold_queue::store::memory::{MemoryQueues, MemoryStore};
use leasehold_queue::{QueueStore, Store, queue_conformance, store_conformance};

#[derive(Default)]
struct Memory {
    store: MemoryStore,
    queues: MemoryQueues,
}

impl Harness for Memory {
    const IS_DURABLE: bool = false;

    async fn start() -> Self {
        Memory::default()
    }

    fn store(&self) -> Arc<dyn Store> {
        Arc::new(self.store.clone())
    }

    fn queues(&self) -> Arc<dyn QueueStore> {
        Arc::new(self.queues.clone())
    }

    async fn restart(self) -> Self {
        Memory::default()
    }
}

store_conformance!(Memory);
queue_conformance!(Memory);
