//! The contract over Firestore, as far as Google's emulator can judge it, and what is particular to that store. Each test
//! has a project of its own on the emulator, with a clock that stands still.

mod clock;
mod faults;
mod interop;
mod listing;
mod nested;
mod peer;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use leasehold_core::ManualClock;
use leasehold_locks::backend::firestore::{Config, FirestoreBackend, SkewCheck};
use leasehold_locks::conformance::Harness;
use leasehold_locks::{
    AcquireRequest, ExtendRequest, Fence, Key, LockBackend, LockId, LookupBy, Ttl, lock_conformance,
};
use leasehold_testkit::firestore::Emulator;
use tokio::sync::OnceCell;

use self::peer::put;

pub(crate) fn request(text: &str) -> AcquireRequest {
    let lock_id = LockId::generate().expect("the system gives random bytes");
    AcquireRequest { key: Key::parse(text).expect("a key"), lock_id, ttl: Ttl::DEFAULT }
}

pub(crate) struct Project {
    pub(crate) name: String,
    pub(crate) clock: ManualClock,
}

impl Project {
    pub(crate) fn new() -> Self {
        Project { name: Emulator::shared().project(), clock: ManualClock::default() }
    }

    pub(crate) fn config(&self) -> Config {
        let address = Emulator::shared().address().to_string();
        // A cold Java on a busy machine takes its time; no case waits for this.
        let patient = Duration::from_secs(60);
        Config::new(&self.name).emulator(address).skew_check(SkewCheck::Ignore).timeout(patient)
    }

    /// A client with a connection and a memory of its own, as another process has.
    pub(crate) async fn backend(&self) -> FirestoreBackend {
        self.backend_with(self.config()).await
    }

    /// A project on an emulator that has done everything once: Java takes seconds over the first time, and some cases
    /// count in tenths.
    pub(crate) async fn warm() -> Self {
        static WARM: OnceCell<()> = OnceCell::const_new();
        WARM.get_or_init(async || {
            let (one, other) = (Project::new(), Project::new());
            let (one, other) = (one.backend().await, other.backend().await);
            for number in 0..20 {
                for backend in [&one, &other] {
                    let request = request(&format!("warm:{number}"));
                    backend.acquire(&request).await.expect("answers");
                    let extend = ExtendRequest { lock_id: request.lock_id, ttl: request.ttl };
                    backend.extend(&extend).await.expect("answers");
                    one.lookup(LookupBy::LockId(&request.lock_id)).await.expect("answers");
                    other.release(&request.lock_id).await.expect("answers");
                    one.release(&request.lock_id).await.expect("answers");
                }
            }
        })
        .await;
        Project::new()
    }

    pub(crate) async fn backend_with(&self, config: Config) -> FirestoreBackend {
        let clock = Arc::new(self.clock.clone());
        FirestoreBackend::connect_with_clock(&config, clock).await.expect("the emulator answers")
    }
}

struct Firestore(Project);

#[async_trait]
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

lock_conformance!(Firestore, [ignore = "needs the Firestore emulator: cargo xtask test firestore"], [store waiting]);
