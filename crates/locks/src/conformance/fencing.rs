//! The promise fence-grows.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use leasehold_core::{Class, Fence, LockCode};
use parking_lot::Mutex;
use tracing::instrument::WithSubscriber;

use super::warnings::Warnings;
use super::{Store, TTL, key, request, ttl};
use crate::{AcquireOptions, AcquireOutcome, LockBackend, ReleaseOutcome};

/// Every history begins at one.
pub async fn first_fence_is_one(store: &Store) {
    assert_eq!(store.acquired("billing").await.fence, Fence::FIRST);
}

/// Release must not reset the fence: a resource may still compare with it.
pub async fn fence_grows_across_release(store: &Store) {
    let first = store.acquired("billing").await;
    store.backend().release(&first.lock_id).await.expect("answers");
    let second = store.acquired("billing").await;
    assert!(second.fence > first.fence, "{second:?} after {first:?}");
}

/// Nor must a take-over.
pub async fn fence_grows_across_expiry(store: &Store) {
    let first = store.acquired_for("billing", ttl(1_000)).await;
    store.advance(Duration::from_secs(10)).await;
    let second = store.acquired("billing").await;
    assert!(second.fence > first.fence, "{second:?} after {first:?}");
}

/// A refusal writes nothing.
pub async fn refused_acquire_uses_up_no_fence(store: &Store) {
    let first = store.acquired("billing").await;
    for _ in 0..5 {
        assert!(matches!(store.acquire("billing", TTL).await, AcquireOutcome::Held { .. }));
    }
    store.backend().release(&first.lock_id).await.expect("answers");
    assert_eq!(Ok(store.acquired("billing").await.fence), first.fence.next());
}

/// One key's history says nothing about another's.
pub async fn fences_of_two_keys_are_independent(store: &Store) {
    for _ in 0..3 {
        let grant = store.acquired("busy").await;
        store.backend().release(&grant.lock_id).await.expect("answers");
    }
    assert_eq!(store.acquired("quiet").await.fence, Fence::FIRST);
}

/// A thousand contenders over several clients: every grant has a fence above the one before it, none twice.
pub async fn fence_of_a_thousand_contenders_only_grows(store: &Store) {
    const CONTENDERS: usize = 1_000;
    const ATTEMPTS: usize = 3;
    let mut clients = Vec::new();
    for _ in 0..8 {
        clients.push(store.harness.client().await);
    }
    let granted = Mutex::new(Vec::new());
    let contend = |client: Arc<dyn LockBackend>| {
        let granted = &granted;
        async move {
            for _ in 0..ATTEMPTS {
                let outcome = client.acquire(&request("contended", TTL)).await.expect("answers");
                if let Some(grant) = outcome.acquired() {
                    // Under the lock: the order of this list is the order of the grants.
                    granted.lock().push(grant.fence);
                    assert_eq!(
                        client.release(&grant.lock_id).await.expect("answers"),
                        ReleaseOutcome::Released
                    );
                }
            }
        }
    };
    // Whoever is granted the key first may be so slow to release it that all others were refused meanwhile. It is free
    // when they have all gone: those who then come again find it so.
    for _ in 0..2 {
        join_all((0..CONTENDERS).map(|number| contend(clients[number % clients.len()].clone()))).await;
        if granted.lock().len() > 1 {
            break;
        }
    }
    let granted = granted.into_inner();
    assert!(granted.len() > 1, "nobody but the first was granted anything");
    for pair in granted.windows(2) {
        assert_eq!(Ok(pair[1]), pair[0].next(), "fence {} was granted after {}", pair[1], pair[0]);
    }
}

/// Long before the numbers end somebody is told, with what is needed to find the key and not the key itself.
pub async fn fence_near_its_maximum_warns(store: &Store) {
    let locks = store.locks().await;
    // With one subscriber in the process, tracing asks the thread that first comes by a warning whether anybody wants it, and
    // remembers that for all: it may be a thread of a server, which has none.
    let _second = tracing::Dispatch::new(Warnings::default());
    for (text, last, warned) in [("quiet", Fence::WARN.as_u64() - 1, 0), ("loud", Fence::WARN.as_u64(), 1)] {
        let key = key(text);
        store.harness.count_to(&key, Fence::try_from(last).expect("can be written")).await;
        let (warnings, options) = (Warnings::default(), AcquireOptions::default());
        let acquiring = locks.acquire(&key, &options).with_subscriber(warnings.clone());
        let guard = acquiring.await.expect("is free");
        assert_eq!(guard.fence().as_u64(), last + 1, "near its maximum, a fence is granted all the same");
        let told = warnings.take();
        assert_eq!(told.len(), warned, "{told:?}");
        for told in told {
            for part in [key.key_hash().to_string(), guard.fence().to_string(), Fence::MAX.to_string()] {
                assert!(told.contains(&part), "{part} is not in {told}");
            }
            assert!(!told.contains(text), "{told}");
        }
        guard.release().await.expect("answers");
    }
}

/// The maximum itself is handed out, and nothing after it: a number that began anew would let everybody in.
pub async fn fence_after_the_maximum_is_refused(store: &Store) {
    let billing = key("billing");
    store.harness.count_to(&billing, Fence::try_from(Fence::MAX.as_u64() - 1).expect("can be written")).await;
    let last = store.acquired("billing").await;
    assert_eq!(last.fence, Fence::MAX);
    assert_eq!(store.backend().release(&last.lock_id).await.expect("answers"), ReleaseOutcome::Released);
    for _ in 0..2 {
        let refused = store.backend().acquire(&request("billing", TTL)).await.expect_err("no fence is left");
        assert_eq!(
            (refused.class(), refused.lock_code()),
            (Class::Internal, LockCode::Internal),
            "{refused:?}"
        );
        assert!(!store.backend().is_locked(&billing).await.expect("answers"), "a refusal leaves no hold");
    }
}
