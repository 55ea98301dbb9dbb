//! The contract over memory.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use leasehold_core::{Fence, Key, ManualClock, Timestamp};
use leasehold_locks::backend::memory::MemoryBackend;
use leasehold_locks::conformance::Harness;
use leasehold_locks::{LockBackend, lock_conformance};

pub(crate) struct Memory {
    backend: Arc<MemoryBackend>,
    clock: ManualClock,
}

#[async_trait]
impl Harness for Memory {
    async fn start() -> Self {
        let clock = ManualClock::new(Timestamp::from_millis(1_700_000_000_000));
        Memory { backend: Arc::new(MemoryBackend::with_clock(Arc::new(clock.clone()))), clock }
    }

    async fn client(&self) -> Arc<dyn LockBackend> {
        self.backend.clone()
    }

    async fn advance(&self, duration: Duration) {
        self.clock.advance(duration);
    }

    async fn count_to(&self, key: &Key, fence: Fence) {
        self.backend.count_to(key, fence);
    }

    fn clock_slack(&self) -> Duration {
        Duration::ZERO
    }
}

lock_conformance!(Memory);
