//! The contract over memory.

use std::sync::Arc;

use async_trait::async_trait;
use leasehold_access::conformance::Harness;
use leasehold_access::store::memory::MemoryStore;
use leasehold_access::{Stores, access_conformance};

struct Memory(Arc<MemoryStore>);

#[async_trait]
impl Harness for Memory {
    async fn start() -> Self {
        Memory(Arc::new(MemoryStore::new()))
    }

    async fn stores(&self) -> Stores {
        Stores::of(self.0.clone())
    }
}

access_conformance!(Memory);
