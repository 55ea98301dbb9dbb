//! A clock that is off must not judge.

use std::sync::Arc;
use std::time::Duration;

use leasehold_core::{Clock, LockCode, ManualClock, SystemClock};
use leasehold_locks::backend::firestore::{Config, FirestoreBackend};
use leasehold_locks::{LockBackend, ReleaseOutcome};
use leasehold_testkit::firestore::Emulator;

use super::request;

fn config() -> Config {
    let emulator = Emulator::shared();
    let patient = Duration::from_secs(60);
    Config::new(emulator.project()).emulator(emulator.address().to_string()).timeout(patient)
}

#[tokio::test]
#[ignore = "needs the Firestore emulator: cargo xtask test firestore"]
async fn clock_that_is_off_is_refused_at_connect() {
    let far = Duration::from_secs(3_600);
    for now in [SystemClock.now().saturating_add(far), SystemClock.now().saturating_sub(far)] {
        let clock = Arc::new(ManualClock::new(now));
        let error = FirestoreBackend::connect_with_clock(&config(), clock).await.unwrap_err();
        assert_eq!((error.code(), error.lock_code()), ("lock.rejected", LockCode::InvalidArgument));
    }
    FirestoreBackend::connect(&config()).await.expect("the clock of this machine is its own");
}

#[tokio::test]
#[ignore = "needs the Firestore emulator: cargo xtask test firestore"]
async fn clock_that_jumps_stops_acquires_and_not_releases() {
    // Moves with the system's, and can be put off it.
    #[derive(Debug, Default)]
    struct Jumping(std::sync::atomic::AtomicU64);
    impl Clock for Jumping {
        fn now(&self) -> leasehold_core::Timestamp {
            let ahead = Duration::from_secs(self.0.load(std::sync::atomic::Ordering::SeqCst));
            SystemClock.now().saturating_add(ahead)
        }
        fn instant(&self) -> std::time::Instant {
            SystemClock.instant()
        }
    }
    let clock = Arc::new(Jumping::default());
    let backend = FirestoreBackend::connect_with_clock(&config(), clock.clone()).await.unwrap();
    let held = request("billing");
    backend.acquire(&held).await.unwrap().acquired().unwrap();
    clock.0.store(5, std::sync::atomic::Ordering::SeqCst);
    let error = backend.acquire(&request("other")).await.unwrap_err();
    assert_eq!(error.code(), "lock.rejected");
    assert_eq!(backend.release(&held.lock_id).await.unwrap(), ReleaseOutcome::Released);
    clock.0.store(0, std::sync::atomic::Ordering::SeqCst);
    backend.acquire(&request("other")).await.unwrap().acquired().unwrap();
}
