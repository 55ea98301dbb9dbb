//! The contract over Firestore, as far as Google's emulator can judge it, and what is particular to that store.

#[path = "firestore_store/mod.rs"]
mod store;

use std::sync::Arc;
use std::time::Duration;

use leasehold_core::ManualClock;
use leasehold_locks::conformance::Harness;
use leasehold_locks::{LockBackend, lock_conformance};
use store::Project;

struct Firestore(Project);

impl Harness for Firestore {
    async fn start() -> Self {
        Firestore(Project::warm().await)
    }

    async fn client(&self) -> Arc<dyn LockBackend> {
        Arc::new(self.0.backend().await)
    }

    async fn advance(&self, duration: Duration) {
        let clock: &ManualClock = &self.0.clock;
        clock.advance(duration);
    }

    fn clock_slack(&self) -> Duration {
        Duration::ZERO
    }
}

lock_conformance!(Firestore, [ignore = "needs the Firestore emulator: cargo xtask test firestore"]);
