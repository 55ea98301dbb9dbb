//! A clock that is off must not judge.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use leasehold_core::{Clock, LockCode, ManualClock, SystemClock, Timestamp};
use leasehold_locks::backend::firestore::{Config, FirestoreBackend};
use leasehold_locks::{AcquireRequest, ExtendRequest, LockBackend, LookupBy, ReleaseOutcome, Ttl};
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

/// Moves with the system's, and can be put off it.
#[derive(Debug, Default)]
struct Jumping(AtomicI64);

impl Jumping {
    fn put_off(&self, seconds: i64) {
        self.0.store(seconds, Ordering::SeqCst);
    }
}

impl Clock for Jumping {
    fn now(&self) -> Timestamp {
        Timestamp::from_micros(SystemClock.now().as_micros() + self.0.load(Ordering::SeqCst) * 1_000_000)
    }
    fn instant(&self) -> Instant {
        SystemClock.instant()
    }
}

#[tokio::test]
#[ignore = "needs the Firestore emulator: cargo xtask test firestore"]
async fn clock_that_jumps_stops_acquires_and_not_releases() {
    let clock = Arc::new(Jumping::default());
    let backend = FirestoreBackend::connect_with_clock(&config(), clock.clone()).await.unwrap();
    // It must be live after the jump, and the jump longer than an answer may take: what the time on the way can explain is
    // no jump.
    let held = AcquireRequest { ttl: Ttl::from_millis(3_600_000).unwrap(), ..request("billing") };
    backend.acquire(&held).await.unwrap().acquired().unwrap();
    clock.put_off(600);
    let error = backend.acquire(&request("other")).await.unwrap_err();
    assert_eq!(error.code(), "lock.rejected");
    assert_eq!(backend.release(&held.lock_id).await.unwrap(), ReleaseOutcome::Released);
    clock.put_off(0);
    backend.acquire(&request("other")).await.unwrap().acquired().unwrap();
}

/// It would say when the hold ends by a time that nobody else has.
#[tokio::test]
#[ignore = "needs the Firestore emulator: cargo xtask test firestore"]
async fn clock_that_jumps_stops_extensions_until_it_is_right_again() {
    for off in [-60, 60] {
        let (clock, config) = (Arc::new(Jumping::default()), config());
        let backend = FirestoreBackend::connect_with_clock(&config, clock.clone()).await.unwrap();
        let other = FirestoreBackend::connect(&config).await.unwrap();
        let held = AcquireRequest { ttl: Ttl::from_millis(600_000).unwrap(), ..request("billing") };
        let grant = backend.acquire(&held).await.unwrap().acquired().unwrap();
        clock.put_off(off);
        let extend = ExtendRequest { lock_id: held.lock_id, ttl: held.ttl };
        for _once_it_was_compared_and_again in 0..2 {
            assert_eq!(backend.extend(&extend).await.unwrap_err().code(), "lock.rejected", "{off}");
        }
        let found = other.lookup(LookupBy::LockId(&held.lock_id)).await.unwrap().expect("a hold");
        assert_eq!(found.expires_at, grant.expires_at, "{off}: as it was");
        clock.put_off(0);
        let extended = backend.extend(&extend).await.unwrap().expires_at().expect("an end");
        assert!(extended > grant.expires_at, "{off}");
    }
}

#[tokio::test]
#[ignore = "needs the Firestore emulator: cargo xtask test firestore"]
async fn clock_that_jumps_clears_no_live_hold_away() {
    let (clock, config) = (Arc::new(Jumping::default()), config().cleanup_in_is_locked(true));
    let hasty = FirestoreBackend::connect_with_clock(&config, clock.clone()).await.unwrap();
    let holder = FirestoreBackend::connect(&config).await.unwrap();
    let held = AcquireRequest { ttl: Ttl::from_millis(600_000).unwrap(), ..request("billing") };
    holder.acquire(&held).await.unwrap().acquired().unwrap();
    clock.put_off(3_600);
    assert!(!hasty.is_locked(&held.key).await.unwrap(), "by its clock");
    clock.put_off(0);
    assert!(hasty.is_locked(&held.key).await.unwrap());
    assert_eq!(holder.release(&held.lock_id).await.unwrap(), ReleaseOutcome::Released);
}
