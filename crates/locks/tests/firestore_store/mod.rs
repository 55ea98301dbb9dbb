//! What is particular to Firestore. Each test has a project of its own on the emulator, with a clock that stands still.

mod clock;
mod faults;
mod interop;
mod listing;
mod nested;
pub(crate) mod peer;

use std::sync::Arc;
use std::time::Duration;

use leasehold_core::ManualClock;
use leasehold_locks::backend::firestore::{Config, FirestoreBackend, SkewCheck};
use leasehold_locks::{AcquireRequest, ExtendRequest, Key, LockBackend, LockId, LookupBy, Ttl};
use leasehold_testkit::firestore::Emulator;
use tokio::sync::OnceCell;

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
