//! Guards: released once, whichever way they go, and honest about their loss.

use std::sync::Arc;
use std::time::Duration;

use leasehold_core::Refusal;
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::waiting::becomes_free;
use super::{Store, key, ttl};
use crate::{
    AcquireOptions, AcquireOutcome, Config, KeepOptions, LockBackend, LockId, Locks, Loss, Operation,
    ReleaseOutcome, Telemetry,
};

/// Longer than any wait of a case that works.
const PATIENT: Duration = Duration::from_secs(20);

/// Long enough for a store to answer in time on a machine that stands still for seconds.
const TTL_MILLIS: u64 = 60_000;

/// Extends within a case, though the ttl is long.
const OFTEN: KeepOptions = KeepOptions { extend_after: 0.005, lost_before: 0.1, hold_max: None };

/// The documented way.
pub async fn released_guard_frees_the_key(store: &Store) {
    let guard = acquired(&store.locks().await).await;
    assert_eq!(guard.release().await.expect("answers"), ReleaseOutcome::Released);
    store.acquired("billing").await;
}

/// The forgetful way.
pub async fn dropped_guard_frees_the_key(store: &Store) {
    drop(acquired(&store.locks().await).await);
    becomes_free(store, "billing").await;
}

/// The way that never fails.
pub async fn disposed_guard_frees_the_key(store: &Store) {
    acquired(&store.locks().await).await.dispose().await;
    store.acquired("billing").await;
}

/// Handing the lock id to somebody else.
pub async fn forgotten_guard_keeps_the_key(store: &Store) {
    let grant = acquired(&store.locks().await).await.forget();
    assert!(matches!(store.acquire("billing", ttl(1_000)).await, AcquireOutcome::Held { .. }));
    assert_eq!(store.backend().release(&grant.lock_id).await.expect("answers"), ReleaseOutcome::Released);
}

/// A release once begun is not taken back.
pub async fn release_goes_on_when_its_caller_is_gone(store: &Store) {
    let guard = acquired(&store.locks().await).await;
    {
        let mut releasing = Box::pin(guard.release());
        let _ = futures_util::poll!(&mut releasing);
    }
    becomes_free(store, "billing").await;
}

/// The work's value comes back, its failure too, and the key is free after both.
pub async fn lock_runs_the_work_and_frees_the_key(store: &Store) {
    let locks = store.locks().await;
    let options = AcquireOptions::default();
    let fence = locks.lock(&key("billing"), &options, async |guard| guard.fence()).await.expect("is free");
    let failed = locks
        .lock(&key("billing"), &options, async |guard| Err::<(), _>(guard.fence()))
        .await
        .expect("is free");
    assert_eq!(fence.next(), Ok(failed.expect_err("the work failed")));
    store.acquired("billing").await;
}

/// More than its ttl later it is still held.
pub async fn kept_guard_outlives_its_ttl(store: &Store) {
    let (telling, mut told) = mpsc::unbounded_channel();
    let telemetry = Telemetry::new(store.harness.client().await, move |event| {
        if event.operation == Operation::Extend {
            let _ = telling.send(event.ok);
        }
    });
    let locks = Locks::with_config(Arc::new(telemetry), Config::default());
    let kept = acquired_for(&locks, TTL_MILLIS).await.keep(OFTEN).await.expect("is live");
    // More than the ttl in all, and never so much between two extensions.
    for _ in 0..3 {
        store.advance(Duration::from_millis(TTL_MILLIS * 2 / 5)).await;
        while let Ok(extended) = told.try_recv() {
            assert!(extended);
        }
        // The first may have begun before the clock moved.
        for _ in 0..2 {
            let extended =
                tokio::time::timeout(PATIENT, told.recv()).await.expect("extends").expect("is kept");
            assert!(extended);
        }
    }
    assert!(!kept.is_lost());
    assert!(matches!(store.acquire("billing", ttl(1_000)).await, AcquireOutcome::Held { .. }));
    assert_eq!(kept.release().await.expect("answers"), ReleaseOutcome::Released);
    store.acquired("billing").await;
}

/// Somebody ended the hold behind its back.
pub async fn kept_guard_tells_of_its_loss(store: &Store) {
    let kept = acquired_for(&store.locks().await, TTL_MILLIS).await.keep(OFTEN).await.expect("is live");
    store.backend().release(kept.lock_id()).await.expect("answers");
    let loss = tokio::time::timeout(PATIENT, kept.lost()).await.expect("is told");
    assert_eq!(loss, Loss::Refused(Refusal::NotFound));
    assert!(kept.is_lost() && kept.lost_token().is_cancelled());
}

/// A worker that hangs does not hold for ever, however long its lease is.
pub async fn kept_guard_stops_at_its_maximum_hold(store: &Store) {
    let hold_max = Duration::from_millis(200);
    let options = KeepOptions { hold_max: Some(hold_max), ..KeepOptions::default() };
    let locks = store.locks().await;
    let asked_at = Instant::now();
    let kept = acquired_for(&locks, 3_600_000).await.keep(options).await.expect("is live");
    assert_eq!(tokio::time::timeout(PATIENT, kept.lost()).await.expect("is told"), Loss::HoldMax);
    assert!(asked_at.elapsed() >= hold_max, "{:?}", asked_at.elapsed());
    assert_eq!(kept.release().await.expect("answers"), ReleaseOutcome::Released);
}

/// The work is dropped at the loss, and finished work is returned.
pub async fn lost_lock_cancels_the_work(store: &Store) {
    let kept = acquired_for(&store.locks().await, TTL_MILLIS).await.keep(OFTEN).await.expect("is live");
    assert_eq!(kept.run(async { 7 }).await, Ok(7));
    store.backend().release(kept.lock_id()).await.expect("answers");
    let hanging = kept.run(std::future::pending::<()>());
    let lost = tokio::time::timeout(PATIENT, hanging).await.expect("is cancelled");
    assert_eq!(lost, Err(Loss::Refused(Refusal::NotFound)));
}

/// Longer than the first attempt of [`survives_a_silent_connection`] waits, and shorter than the first two.
pub const SILENCE: Duration = Duration::from_secs(13);

/// For stores with a connection: a kept lock outlives one that takes an extension and never answers. `silence` makes the
/// connection silent for an extension of the hold and lets [`SILENCE`] pass on the clock of the runtime. New connections work.
pub async fn survives_a_silent_connection(backend: Arc<dyn LockBackend>, silence: impl AsyncFnOnce(&LockId)) {
    /// Less than what is left of the first attempt, or of its limit in the store's client, if it goes on.
    const SOON: Duration = Duration::from_secs(10);
    let (telling, mut told) = mpsc::unbounded_channel();
    let telemetry = Telemetry::new(backend, move |event| {
        if event.operation == Operation::Extend {
            let _ = telling.send(event.ok);
        }
    });
    let locks = Locks::with_config(Arc::new(telemetry), Config::default());
    let kept = acquired_for(&locks, 40_000).await.keep(OFTEN).await.expect("is live");
    assert!(told.recv().await.expect("is kept"));
    silence(kept.lock_id()).await;
    while told.try_recv().is_ok() {}
    let extended = tokio::time::timeout(SOON, told.recv()).await;
    assert!(extended.expect("extends over another connection").expect("is kept"));
    assert!(!kept.is_lost());
    assert_eq!(kept.release().await.expect("answers"), ReleaseOutcome::Released);
}

async fn acquired(locks: &Locks) -> crate::Guard {
    locks.acquire(&key("billing"), &AcquireOptions::default()).await.expect("is free")
}

async fn acquired_for(locks: &Locks, millis: u64) -> crate::Guard {
    locks.acquire(&key("billing"), &AcquireOptions::default().ttl(ttl(millis))).await.expect("is free")
}
