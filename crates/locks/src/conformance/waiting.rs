//! Waiting for a key: it ends when the key is free, in order, at the timeout, or when the caller gives up.

use std::task::Poll;
use std::time::Duration;

use futures_util::future::join_all;
use leasehold_core::{Class, Fence, LockCode};
use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

use super::{Store, TTL, key, lock_id, ttl};
use crate::{AcquireOptions, AcquireOutcome, Error, ListRequest, Locks, Retry};

/// Longer than any wait of a case that works.
const PATIENT: Duration = Duration::from_secs(20);

fn patient() -> AcquireOptions {
    AcquireOptions::default().timeout(PATIENT).retry(Retry { retries_max: u32::MAX, ..Retry::default() })
}

/// The waiter is another client than the holder.
pub async fn waiter_gets_the_key_when_it_is_released(store: &Store) {
    let held = store.acquired("billing").await;
    let waiter = store.locks().await;
    let (guard, released) = tokio::join!(
        async { waiter.acquire(&key("billing"), &patient()).await },
        store.backend().release(&held.lock_id)
    );
    released.expect("answers");
    let guard = guard.expect("the key was released");
    assert_eq!(Ok(guard.fence()), held.fence.next());
    guard.release().await.expect("answers");
}

/// The holder has died.
pub async fn waiter_gets_the_key_when_the_hold_expires(store: &Store) {
    let held = store.acquired_for("billing", ttl(60_000)).await;
    let waiter = store.locks().await;
    let (billing, options) = (key("billing"), patient());
    let (guard, ()) =
        tokio::join!(waiter.acquire(&billing, &options), store.advance(Duration::from_secs(120)));
    assert_eq!(Ok(guard.expect("the hold has expired").fence()), held.fence.next());
}

/// First come, first served.
pub async fn waiters_of_one_process_are_served_in_order(store: &Store) {
    let locks = store.locks().await;
    let held = locks.acquire(&key("billing"), &patient()).await.expect("is free");
    let served = Mutex::new(Vec::new());
    let options = patient();
    let billing = key("billing");
    // Polled in this order for the first time, and so they stand in line.
    let waiters = join_all((0..6).map(|number| {
        let (locks, served, options, billing) = (&locks, &served, &options, &billing);
        async move {
            let guard = locks.acquire(billing, options).await.expect("its turn comes");
            served.lock().push((number, guard.fence()));
            guard.release().await.expect("answers");
        }
    }));
    let release = async {
        tokio::task::yield_now().await;
        held.release().await.expect("answers");
    };
    tokio::join!(waiters, release);
    let served = served.into_inner();
    let order: Vec<i32> = served.iter().map(|(number, _)| *number).collect();
    assert_eq!(order, [0, 1, 2, 3, 4, 5]);
    assert!(served.is_sorted_by_key(|(_, fence): &(i32, Fence)| *fence), "{served:?}");
}

/// Not before, not much later.
pub async fn waiting_ends_at_the_timeout(store: &Store) {
    store.acquired("billing").await;
    let timeout = Duration::from_millis(150);
    let refused =
        store.locks().await.acquire(&key("billing"), &AcquireOptions::default().timeout(timeout)).await;
    match refused.expect_err("is held") {
        Error::AcquisitionTimeout { attempts, waited, .. } => {
            assert!(attempts >= 1 && waited >= timeout, "{attempts} attempts in {waited:?}");
        }
        other => panic!("{other:?}"),
    }
}

/// For callers that do not wait.
pub async fn zero_timeout_asks_once(store: &Store) {
    let locks = store.locks().await;
    let at_once = AcquireOptions::default().timeout(Duration::ZERO);
    let guard = locks.acquire(&key("billing"), &at_once).await.expect("is free");
    let refused = locks.acquire(&key("billing"), &at_once).await.expect_err("is held");
    assert!(matches!(refused, Error::AcquisitionTimeout { attempts: 1, .. }), "{refused:?}");
    assert!(locks.try_acquire(&key("billing"), TTL).await.expect("answers").is_none());
    guard.release().await.expect("answers");
    locks
        .try_acquire(&key("billing"), TTL)
        .await
        .expect("answers")
        .expect("is free")
        .release()
        .await
        .expect("answers");
}

/// Cancelling ends the wait at once, also in the middle of a back-off.
pub async fn cancelled_waiter_is_told_and_leaves_no_lock(store: &Store) {
    let held = store.acquired("billing").await;
    let cancel = CancellationToken::new();
    let locks = store.locks().await.cancelled_by(cancel.clone());
    let slow = patient().retry(Retry { delay: Duration::from_secs(600), ..Retry::default() });
    let billing = key("billing");
    let (refused, ()) = tokio::join!(locks.acquire(&billing, &slow), async { cancel.cancel() });
    assert!(matches!(refused, Err(Error::Aborted { .. })), "{refused:?}");
    store.backend().release(&held.lock_id).await.expect("answers");
    becomes_free(store, "billing").await;
}

/// A future that is dropped at any point of its life leaves no hold behind that nobody knows.
pub async fn dropped_waiter_leaves_no_lock(store: &Store) {
    let locks = store.locks().await;
    for polls in 0..12 {
        let text = format!("dropped:{polls}");
        let dropped_key = key(&text);
        {
            let options = patient();
            let mut acquiring = Box::pin(locks.acquire(&dropped_key, &options));
            for _ in 0..polls {
                if futures_util::poll!(&mut acquiring).is_ready() {
                    break;
                }
                tokio::task::yield_now().await;
            }
        }
        becomes_free(store, &text).await;
    }
}

/// A token that is cancelled already: no operation touches the store.
pub async fn cancelled_operations_do_nothing(store: &Store) {
    let grant = store.acquired("billing").await;
    let cancel = CancellationToken::new();
    cancel.cancel();
    let locks: Locks = store.locks().await.cancelled_by(cancel);
    let billing = key("billing");
    let aborted = |error: Error| {
        assert!(matches!(error, Error::Aborted { .. }), "{error:?}");
        assert_eq!((error.lock_code(), error.class()), (LockCode::Aborted, Class::Rejected), "{error:?}");
    };
    aborted(locks.acquire(&key("other"), &AcquireOptions::default()).await.expect_err("cancelled"));
    aborted(locks.try_acquire(&key("other"), TTL).await.expect_err("cancelled"));
    aborted(locks.release(&grant.lock_id).await.expect_err("cancelled"));
    aborted(locks.extend(&grant.lock_id, TTL).await.expect_err("cancelled"));
    aborted(locks.is_locked(&billing).await.expect_err("cancelled"));
    aborted(locks.get_by_key(&billing).await.expect_err("cancelled"));
    aborted(locks.get_by_id(&lock_id()).await.expect_err("cancelled"));
    aborted(locks.list(&ListRequest { after: None, len_max: 1 }).await.expect_err("cancelled"));
    assert!(
        matches!(store.acquire("billing", TTL).await, AcquireOutcome::Held { .. }),
        "the hold is untouched"
    );
    store.acquired("other").await;
}

/// Cancelled after it has begun, a release or an extension says *not applied* only where it is.
pub async fn cancelled_write_has_a_true_class(store: &Store) {
    for extends in [false, true] {
        let text = format!("extends:{extends}");
        let grant = store.acquired(&text).await;
        let cancel = CancellationToken::new();
        let locks: Locks = store.locks().await.cancelled_by(cancel.clone());
        let writing = async {
            match extends {
                true => locks.extend(&grant.lock_id, TTL).await.map(drop),
                false => locks.release(&grant.lock_id).await.map(drop),
            }
        };
        let mut writing = Box::pin(writing);
        let answer = match futures_util::poll!(&mut writing) {
            Poll::Ready(answer) => answer,
            Poll::Pending => {
                cancel.cancel();
                writing.await
            }
        };
        // A store that had the answer at once was not cancelled.
        let Err(error) = answer else { continue };
        assert_eq!((error.code(), error.lock_code()), ("lock.aborted", LockCode::Aborted), "{error:?}");
        match error.class() {
            Class::Rejected => assert!(store.backend().is_locked(&key(&text)).await.expect("answers")),
            class => assert_eq!(class, Class::Indeterminate, "{error:?}"),
        }
    }
}

/// Waits for the background release; the key must be free long before its ttl.
pub(super) async fn becomes_free(store: &Store, text: &str) {
    let guard = store.locks().await.acquire(&key(text), &patient()).await;
    guard.expect("the key becomes free").release().await.expect("answers");
}
