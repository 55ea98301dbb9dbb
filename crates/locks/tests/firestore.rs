//! The contract over Firestore, as far as Google's emulator can judge it, and what is particular to that store.

mod firestore_store;

use std::sync::Arc;
use std::time::Duration;

use firestore_store::Project;
use leasehold_locks::conformance::Harness;
use leasehold_locks::{LockBackend, lock_conformance};

struct Firestore(Project);

impl Harness for Firestore {
    async fn start() -> Self {
        Firestore(Project::warm().await)
    }

    async fn client(&self) -> Arc<dyn LockBackend> {
        Arc::new(self.0.backend().await)
    }

    async fn advance(&self, duration: Duration) {
        self.0.clock.advance(duration);
    }

    fn clock_slack(&self) -> Duration {
        Duration::ZERO
    }
}

lock_conformance!(Firestore, [ignore = "needs the Firestore emulator: cargo xtask test firestore"]);
