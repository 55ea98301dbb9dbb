//! Who holds what: one-holder and write-carries-lease.

use std::time::Duration;

use leasehold_core::{Class, Fence, LockCode, Refusal};

use super::{Store, TTL, key, lock_id, request, ttl};
use crate::{AcquireOutcome, AcquireRequest, ExtendOutcome, LookupBy, ReleaseOutcome};

/// The plain case.
pub async fn free_key_is_acquired(store: &Store) {
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
pub async fn held_key_is_refused_to_every_client(store: &Store) {
    store.acquired("billing").await;
    assert!(matches!(store.acquire("billing", TTL).await, AcquireOutcome::Held { .. }));
    let other = store.harness.client().await;
    let refused = other.acquire(&request("billing", TTL)).await.expect("answers");
    assert!(matches!(refused, AcquireOutcome::Held { .. }), "{refused:?}");
}

/// And any client may release with the id.
pub async fn release_frees_the_key(store: &Store) {
    let grant = store.acquired("billing").await;
    let other = store.harness.client().await;
    assert_eq!(other.release(&grant.lock_id).await.expect("answers"), ReleaseOutcome::Released);
    assert!(!store.backend().is_locked(&key("billing")).await.expect("answers"));
    store.acquired("billing").await;
}

/// A hold is ended once.
pub async fn second_release_is_refused(store: &Store) {
    let grant = store.acquired("billing").await;
    assert_eq!(store.backend().release(&grant.lock_id).await.expect("answers"), ReleaseOutcome::Released);
    let second = store.backend().release(&grant.lock_id).await.expect("answers");
    assert_eq!(second, ReleaseOutcome::Refused(Refusal::NotFound));
}

/// An id that never held anything.
pub async fn release_of_an_unknown_id_is_refused(store: &Store) {
    let refused = store.backend().release(&lock_id()).await.expect("answers");
    assert_eq!(refused, ReleaseOutcome::Refused(Refusal::NotFound));
}

/// A refused acquire gives no right to the holder's key.
pub async fn refused_id_leaves_the_holder_alone(store: &Store) {
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
pub async fn extend_replaces_the_remaining_time(store: &Store) {
    let grant = store.acquired_for("billing", ttl(60_000)).await;
    let longer = store.extend(&grant.lock_id, ttl(120_000)).await.expires_at().expect("is live");
    assert!(longer > grant.expires_at, "{longer:?} after {:?}", grant.expires_at);
    let shorter = store.extend(&grant.lock_id, ttl(10_000)).await.expires_at().expect("is live");
    assert!(shorter < grant.expires_at, "{shorter:?} before {:?}", grant.expires_at);
    let found = store.backend().lookup(LookupBy::LockId(&grant.lock_id)).await.expect("answers");
    assert_eq!(found.expect("is live").expires_at, shorter);
}

/// An id that never held anything.
pub async fn extend_of_an_unknown_id_is_refused(store: &Store) {
    assert_eq!(store.extend(&lock_id(), TTL).await, ExtendOutcome::Refused(Refusal::NotFound));
}

/// Extending is not acquiring again.
pub async fn extend_keeps_fence_and_beginning(store: &Store) {
    let grant = store.acquired("billing").await;
    let before =
        store.backend().lookup(LookupBy::LockId(&grant.lock_id)).await.expect("answers").expect("held");
    store.extend(&grant.lock_id, ttl(90_000)).await.expires_at().expect("is live");
    let after =
        store.backend().lookup(LookupBy::LockId(&grant.lock_id)).await.expect("answers").expect("held");
    assert_eq!((after.fence, after.acquired_at, &after.key), (before.fence, before.acquired_at, &before.key));
}

/// After a lost reply the caller asks again with the same id, and learns what it was granted.
pub async fn repeated_acquire_returns_the_same_grant(store: &Store) {
    let asked = request("billing", TTL);
    let first = store.backend().acquire(&asked).await.expect("answers").acquired().expect("is free");
    let again = store.backend().acquire(&asked).await.expect("answers").acquired().expect("is ours");
    assert_eq!(again, first);
    assert_eq!(store.backend().release(&asked.lock_id).await.expect("answers"), ReleaseOutcome::Released);
    let next = store.acquired("billing").await;
    assert_eq!(Ok(next.fence), first.fence.next(), "the repetition used up no fence");
}

/// An id stands for one hold: for another key it is refused, and both keys stay as they are.
pub async fn lock_id_of_a_live_hold_is_refused_for_another_key(store: &Store) {
    let first = request("first", ttl(20_000));
    let granted = store.backend().acquire(&first).await.expect("answers").acquired().expect("is free");
    let second = AcquireRequest { key: key("second"), ttl: TTL, ..first.clone() };
    let refused = store.backend().acquire(&second).await.expect_err("its id holds another key");
    assert_eq!((refused.code(), refused.class()), ("lock.id_in_use", Class::Rejected), "{refused:?}");
    assert_eq!(refused.lock_code(), LockCode::InvalidArgument);
    assert!(!store.backend().is_locked(&second.key).await.expect("answers"));
    let found = store.backend().lookup(LookupBy::LockId(&first.lock_id)).await.expect("answers");
    assert_eq!(found.map(|held| (held.key, held.fence)), Some((first.key, granted.fence)));
    assert_eq!(store.acquired("second").await.fence, Fence::FIRST, "the refusal used up no fence");
    let held = store.backend().acquire(&second).await.expect("contention comes first");
    assert!(matches!(held, AcquireOutcome::Held { .. }), "{held:?}");
    assert_eq!(store.backend().release(&first.lock_id).await.expect("answers"), ReleaseOutcome::Released);
}

/// What the id stood for has ended, by release or by time: it stands for the new hold alone, whoever takes the old key.
pub async fn lock_id_of_an_ended_hold_stands_for_the_new_one(store: &Store) {
    let mut asked = request("released", TTL);
    store.backend().acquire(&asked).await.expect("answers").acquired().expect("is free");
    assert_eq!(store.backend().release(&asked.lock_id).await.expect("answers"), ReleaseOutcome::Released);
    asked = AcquireRequest { key: key("expired"), ttl: ttl(20_000), ..asked };
    store.backend().acquire(&asked).await.expect("answers").acquired().expect("is free");
    store.advance(Duration::from_millis(25_000)).await;
    asked = AcquireRequest { key: key("held"), ttl: ttl(600_000), ..asked };
    let granted = store.backend().acquire(&asked).await.expect("answers").acquired().expect("is free");
    store.acquired("released").await;
    assert_eq!(store.acquired("expired").await.fence.as_u64(), 2, "its counter is as it was");
    let found = store.backend().lookup(LookupBy::LockId(&asked.lock_id)).await.expect("answers");
    assert_eq!(found.map(|held| (held.key, held.fence)), Some((asked.key.clone(), granted.fence)));
    store.extend(&asked.lock_id, TTL).await.expires_at().expect("is live");
    assert_eq!(store.backend().release(&asked.lock_id).await.expect("answers"), ReleaseOutcome::Released);
    assert!(!store.backend().is_locked(&asked.key).await.expect("answers"));
}

/// Including keys that look alike.
pub async fn keys_do_not_contend_with_each_other(store: &Store) {
    for text in ["a", "A", "a:", "a:b", "b", " a", "a "] {
        store.acquired(text).await;
    }
}
