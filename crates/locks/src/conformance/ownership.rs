//! Who holds what: one-holder and write-carries-lease.

use leasehold_core::Refusal;

use super::{Harness, Store, TTL, key, lock_id, request, ttl};
use crate::{AcquireOutcome, ExtendOutcome, LookupBy, ReleaseOutcome};

/// The plain case.
pub async fn free_key_is_acquired<H: Harness>(store: &Store<H>) {
    let grant = store.acquired("billing").await;
    assert!(store.backend().is_locked(&key("billing")).await.expect("answers"));
    let found =
        store.backend().lookup(LookupBy::Key(&key("billing"))).await.expect("answers").expect("is held");
    assert_eq!(
        (found.lock_id, found.fence, found.expires_at),
        (grant.lock_id, grant.fence, grant.expires_at)
    );
}

/// Contention is an answer, for the same client and for another one.
pub async fn held_key_is_refused_to_every_client<H: Harness>(store: &Store<H>) {
    store.acquired("billing").await;
    assert!(matches!(store.acquire("billing", TTL).await, AcquireOutcome::Held { .. }));
    let other = store.harness.client().await;
    let refused = other.acquire(&request("billing", TTL)).await.expect("answers");
    assert!(matches!(refused, AcquireOutcome::Held { .. }), "{refused:?}");
}

/// And any client may release with the id.
pub async fn release_frees_the_key<H: Harness>(store: &Store<H>) {
    let grant = store.acquired("billing").await;
    let other = store.harness.client().await;
    assert_eq!(other.release(&grant.lock_id).await.expect("answers"), ReleaseOutcome::Released);
    assert!(!store.backend().is_locked(&key("billing")).await.expect("answers"));
    store.acquired("billing").await;
}

/// A hold is ended once.
pub async fn second_release_is_refused<H: Harness>(store: &Store<H>) {
    let grant = store.acquired("billing").await;
    assert_eq!(store.backend().release(&grant.lock_id).await.expect("answers"), ReleaseOutcome::Released);
    let second = store.backend().release(&grant.lock_id).await.expect("answers");
    assert_eq!(second, ReleaseOutcome::Refused(Refusal::NotFound));
}

/// An id that never held anything.
pub async fn release_of_an_unknown_id_is_refused<H: Harness>(store: &Store<H>) {
    let refused = store.backend().release(&lock_id()).await.expect("answers");
    assert_eq!(refused, ReleaseOutcome::Refused(Refusal::NotFound));
}

/// A refused acquire gives no right to the holder's key.
pub async fn refused_id_leaves_the_holder_alone<H: Harness>(store: &Store<H>) {
    let grant = store.acquired("billing").await;
    let loser = request("billing", TTL);
    store.backend().acquire(&loser).await.expect("answers");
    let released = store.backend().release(&loser.lock_id).await.expect("answers");
    assert_eq!(released, ReleaseOutcome::Refused(Refusal::NotFound));
    let extended = store.extend(&loser.lock_id, TTL).await;
    assert_eq!(extended, ExtendOutcome::Refused(Refusal::NotFound));
    let found = store.backend().lookup(LookupBy::LockId(&grant.lock_id)).await.expect("answers");
    assert_eq!(found.expect("still held").lock_id, grant.lock_id);
}

/// Longer and shorter: the new end is `ttl` from now.
pub async fn extend_replaces_the_remaining_time<H: Harness>(store: &Store<H>) {
    let grant = store.acquired_for("billing", ttl(60_000)).await;
    let longer = store.extend(&grant.lock_id, ttl(120_000)).await.expires_at().expect("is live");
    assert!(longer > grant.expires_at, "{longer:?} after {:?}", grant.expires_at);
    let shorter = store.extend(&grant.lock_id, ttl(10_000)).await.expires_at().expect("is live");
    assert!(shorter < grant.expires_at, "{shorter:?} before {:?}", grant.expires_at);
    let found = store.backend().lookup(LookupBy::LockId(&grant.lock_id)).await.expect("answers");
    assert_eq!(found.expect("is live").expires_at, shorter);
}

/// An id that never held anything.
pub async fn extend_of_an_unknown_id_is_refused<H: Harness>(store: &Store<H>) {
    assert_eq!(store.extend(&lock_id(), TTL).await, ExtendOutcome::Refused(Refusal::NotFound));
}

/// Extending is not acquiring again.
pub async fn extend_keeps_fence_and_beginning<H: Harness>(store: &Store<H>) {
    let grant = store.acquired("billing").await;
    let before =
        store.backend().lookup(LookupBy::LockId(&grant.lock_id)).await.expect("answers").expect("held");
    store.extend(&grant.lock_id, ttl(90_000)).await.expires_at().expect("is live");
    let after =
        store.backend().lookup(LookupBy::LockId(&grant.lock_id)).await.expect("answers").expect("held");
    assert_eq!((after.fence, after.acquired_at, &after.key), (before.fence, before.acquired_at, &before.key));
}

/// After a lost reply the caller asks again with the same id, and learns what it was granted.
pub async fn repeated_acquire_returns_the_same_grant<H: Harness>(store: &Store<H>) {
    let asked = request("billing", TTL);
    let first = store.backend().acquire(&asked).await.expect("answers").acquired().expect("is free");
    let again = store.backend().acquire(&asked).await.expect("answers").acquired().expect("is ours");
    assert_eq!(again, first);
    assert_eq!(store.backend().release(&asked.lock_id).await.expect("answers"), ReleaseOutcome::Released);
    let next = store.acquired("billing").await;
    assert_eq!(Ok(next.fence), first.fence.next(), "the repetition used up no fence");
}

/// Including keys that look alike.
pub async fn keys_do_not_contend_with_each_other<H: Harness>(store: &Store<H>) {
    for text in ["a", "A", "a:", "a:b", "b", " a", "a "] {
        store.acquired(text).await;
    }
}
