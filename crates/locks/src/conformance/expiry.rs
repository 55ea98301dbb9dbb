//! Time: when a hold ends, for whom, and that it never comes back (no-resurrection).

use std::time::Duration;

use leasehold_core::Refusal;

use super::{Store, TTL, key, ttl};
use crate::{AcquireOutcome, ExtendOutcome, ReleaseOutcome};

/// Much longer than a machine may stand still, where the clock that judges does not.
const SHORT: u64 = 60_000;

/// The last instant at which a hold of `SHORT` surely keeps others out.
fn just_before_the_end(store: &Store) -> Duration {
    let end = Duration::from_millis(SHORT) + store.backend().capabilities().tolerance;
    end - store.harness.clock_slack() - Duration::from_millis(1)
}

/// The first instant at which it surely does not.
fn the_end(store: &Store) -> Duration {
    Duration::from_millis(SHORT) + store.backend().capabilities().tolerance
}

/// A store whose entries go at their end knows nothing of them any more; those that have a tolerance know what has expired.
fn refusal_of_the_expired(store: &Store) -> Refusal {
    match store.backend().capabilities().tolerance.is_zero() {
        true => Refusal::NotFound,
        false => Refusal::Expired,
    }
}

/// One millisecond before the end it is still held.
pub async fn hold_keeps_others_out_until_its_end(store: &Store) {
    store.acquired_for("billing", ttl(SHORT)).await;
    store.advance(just_before_the_end(store)).await;
    assert!(matches!(store.acquire("billing", TTL).await, AcquireOutcome::Held { .. }));
    assert!(store.backend().is_locked(&key("billing")).await.expect("answers"));
}

/// At the end it is free.
pub async fn hold_ends_after_the_tolerance(store: &Store) {
    store.acquired_for("billing", ttl(SHORT)).await;
    store.advance(the_end(store)).await;
    assert!(!store.backend().is_locked(&key("billing")).await.expect("answers"));
    store.acquired("billing").await;
}

/// As long as nobody else can have it, its holder may keep it.
pub async fn late_holder_may_extend_within_the_tolerance(store: &Store) {
    let grant = store.acquired_for("billing", ttl(SHORT)).await;
    store.advance(just_before_the_end(store)).await;
    store.extend(&grant.lock_id, TTL).await.expires_at().expect("still live");
    store.advance(Duration::from_secs(5)).await;
    assert!(matches!(store.acquire("billing", TTL).await, AcquireOutcome::Held { .. }));
    assert_eq!(store.backend().release(&grant.lock_id).await.expect("answers"), ReleaseOutcome::Released);
}

/// Nobody took the key, and still it is over.
pub async fn expired_hold_is_not_extended(store: &Store) {
    let grant = store.acquired_for("billing", ttl(SHORT)).await;
    store.advance(the_end(store)).await;
    let refused = store.extend(&grant.lock_id, TTL).await;
    assert_eq!(refused, ExtendOutcome::Refused(refusal_of_the_expired(store)));
    assert!(!store.backend().is_locked(&key("billing")).await.expect("answers"));
}

/// A release that came too late is told so.
pub async fn expired_hold_is_not_released(store: &Store) {
    let grant = store.acquired_for("billing", ttl(SHORT)).await;
    store.advance(the_end(store)).await;
    let refused = store.backend().release(&grant.lock_id).await.expect("answers");
    assert_eq!(refused, ReleaseOutcome::Refused(refusal_of_the_expired(store)));
    store.acquired("billing").await;
}

/// The paused holder comes back and finds that it has lost.
pub async fn taken_over_hold_is_refused_to_its_old_holder(store: &Store) {
    let old = store.acquired_for("billing", ttl(SHORT)).await;
    store.advance(the_end(store)).await;
    let new = store.acquired("billing").await;
    assert_eq!(store.extend(&old.lock_id, TTL).await, ExtendOutcome::Refused(Refusal::NotFound));
    let released = store.backend().release(&old.lock_id).await.expect("answers");
    assert_eq!(released, ReleaseOutcome::Refused(Refusal::NotFound));
    assert_eq!(store.backend().release(&new.lock_id).await.expect("answers"), ReleaseOutcome::Released);
}

/// Extending early does not add the rest of the old time.
pub async fn extend_counts_from_now_and_not_from_the_old_end(store: &Store) {
    let grant = store.acquired_for("billing", ttl(3 * SHORT)).await;
    store.extend(&grant.lock_id, ttl(SHORT)).await.expires_at().expect("is live");
    store.advance(the_end(store)).await;
    store.acquired("billing").await;
}

/// Where the store says how long, it says the truth.
pub async fn remaining_time_is_told_to_the_refused(store: &Store) {
    store.acquired_for("billing", ttl(SHORT)).await;
    let AcquireOutcome::Held { free_in } = store.acquire("billing", TTL).await else { panic!("is held") };
    if let Some(free_in) = free_in {
        let (least, most) = (just_before_the_end(store), the_end(store));
        assert!((least..=most).contains(&free_in), "{free_in:?} is not within {least:?} and {most:?}");
    }
}
