//! The contract over Firestore, as far as Google's emulator can judge it, and what is particular to that store.

mod firestore_store;

use std::sync::Arc;
use std::time::Duration;

use firestore_store::Project;
use firestore_store::peer::put;
use leasehold_locks::conformance::Harness;
use leasehold_locks::{Fence, Key, LockBackend, lock_conformance};

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

    async fn count_to(&self, key: &Key, fence: Fence) {
        let (project, path) = (self.0.name.clone(), format!("fence_counters/fence:{}", key.as_str()));
        let fields = serde_json::json!({ "fence": { "stringValue": fence.to_string() } });
        let put = tokio::task::spawn_blocking(move || put(&project, &path, &fields));
        put.await.expect("counts");
    }

    fn refused_keys(&self) -> &'static [&'static str] {
        &["a/b", "a/b/c", "/", "..", "__x__"]
    }

    fn clock_slack(&self) -> Duration {
        Duration::ZERO
    }
}

lock_conformance!(Firestore, [ignore = "needs the Firestore emulator: cargo xtask test firestore"]);
