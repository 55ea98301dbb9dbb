//! The random cases of the contract, with as many seeds as the time allows.
//!
//! `cargo xtask soak locks --minutes 10 --seed 1`

use std::sync::Arc;
use std::time::{Duration, Instant};

use leasehold_core::{Fence, Key, ManualClock, Timestamp};
use leasehold_embedded::Store as Folder;
use leasehold_locks::LockBackend;
use leasehold_locks::backend::embedded::EmbeddedBackend;
use leasehold_locks::backend::memory::MemoryBackend;
use leasehold_locks::conformance::{Harness, Store, concurrency, fencing, history};
use tempfile::TempDir;

struct OnClock<B> {
    backend: Arc<B>,
    clock: ManualClock,
    _folder: TempDir,
}

fn clock() -> ManualClock {
    ManualClock::new(Timestamp::from_millis(1_700_000_000_000))
}

impl Harness for OnClock<MemoryBackend> {
    async fn start() -> Self {
        let clock = clock();
        let backend = MemoryBackend::with_clock(Arc::new(clock.clone()));
        OnClock { backend: Arc::new(backend), clock, _folder: tempfile::tempdir().expect("temporary folder") }
    }

    async fn client(&self) -> Arc<dyn LockBackend> {
        self.backend.clone()
    }

    async fn advance(&self, duration: Duration) {
        self.clock.advance(duration);
    }

    async fn count_to(&self, _: &Key, _: Fence) {
        unreachable!("no case that is soaked sets a counter");
    }

    fn clock_slack(&self) -> Duration {
        Duration::ZERO
    }
}

impl Harness for OnClock<EmbeddedBackend> {
    async fn start() -> Self {
        let (clock, folder) = (clock(), tempfile::tempdir().expect("temporary folder"));
        let store = Folder::open(folder.path()).expect("opens");
        let backend = EmbeddedBackend::with_clock(store, Arc::new(clock.clone())).expect("opens");
        OnClock { backend: Arc::new(backend), clock, _folder: folder }
    }

    async fn client(&self) -> Arc<dyn LockBackend> {
        self.backend.clone()
    }

    async fn advance(&self, duration: Duration) {
        self.clock.advance(duration);
    }

    async fn count_to(&self, _: &Key, _: Fence) {
        unreachable!("no case that is soaked sets a counter");
    }

    fn clock_slack(&self) -> Duration {
        Duration::ZERO
    }
}

async fn soak<H: Harness>() {
    let minutes: u64 =
        std::env::var("LEASEHOLD_SOAK_MINUTES").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    let deadline = Instant::now() + Duration::from_secs(30 * minutes);
    let mut rounds = 0;
    while rounds == 0 || Instant::now() < deadline {
        let store = Store::<H>::start().await;
        history::concurrent_history_is_linearizable(&store).await;
        history::random_operations_answer_as_the_model(&store).await;
        concurrency::one_winner_among_contenders(&store).await;
        concurrency::one_taker_of_an_expired_hold(&store).await;
        fencing::fence_of_a_thousand_contenders_only_grows(&store).await;
        rounds += 1;
    }
    println!("{rounds} rounds");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "runs for minutes: cargo xtask soak locks"]
async fn memory_keeps_its_promises() {
    soak::<OnClock<MemoryBackend>>().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "runs for minutes: cargo xtask soak locks"]
async fn embedded_keeps_its_promises() {
    soak::<OnClock<EmbeddedBackend>>().await;
}
