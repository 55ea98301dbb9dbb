//! Many at once: whatever the interleaving, one of them wins.

use std::time::Duration;

use futures_util::future::join_all;

use super::{Store, TTL, request, ttl};
use crate::{AcquireOutcome, ReleaseOutcome};

const CONTENDERS: usize = 32;
const ROUNDS: usize = 10;

/// On a key that nobody ever held: the row, key or document is absent, which is where stores break.
pub async fn one_winner_among_contenders(store: &Store) {
    for round in 0..ROUNDS {
        assert_eq!(winners(store, &format!("fresh:{round}")).await, 1, "round {round}");
    }
}

/// On a key whose hold has just ended by itself: each contender finds it free.
pub async fn one_taker_of_an_expired_hold(store: &Store) {
    for round in 0..ROUNDS {
        let text = format!("expired:{round}");
        store.acquired_for(&text, ttl(1_000)).await;
        store.advance(Duration::from_secs(10)).await;
        assert_eq!(winners(store, &text).await, 1, "round {round}");
    }
}

async fn winners(store: &Store, text: &str) -> usize {
    let mut clients = Vec::new();
    for _ in 0..4 {
        clients.push(store.harness.client().await);
    }
    let contenders = (0..CONTENDERS).map(|number| {
        let client = clients[number % clients.len()].clone();
        async move { client.acquire(&request(text, TTL)).await.expect("answers") }
    });
    let outcomes = join_all(contenders).await;
    outcomes.iter().filter(|outcome| matches!(outcome, AcquireOutcome::Acquired(_))).count()
}

/// Release is once, also when it is asked for many times at once.
pub async fn one_release_succeeds(store: &Store) {
    for round in 0..ROUNDS {
        let grant = store.acquired(&format!("released:{round}")).await;
        let releases = (0..CONTENDERS).map(|_| store.backend().release(&grant.lock_id));
        let outcomes = join_all(releases).await;
        let released = outcomes.into_iter().filter(|outcome| matches!(outcome, Ok(ReleaseOutcome::Released)));
        assert_eq!(released.count(), 1, "round {round}");
    }
}

/// The late holder's release against the next one's acquire, at the very end of the hold: the release is refused,
/// or it came first, and the new hold is live either way.
pub async fn release_and_take_over_never_both_succeed(store: &Store) {
    for round in 0..ROUNDS {
        let text = format!("edge:{round}");
        let late = store.acquired_for(&text, ttl(1_000)).await;
        store.advance(Duration::from_secs(10)).await;
        let asked = request(&text, TTL);
        let (released, taken) =
            tokio::join!(store.backend().release(&late.lock_id), store.backend().acquire(&asked));
        let released = released.expect("answers");
        assert!(matches!(released, ReleaseOutcome::Refused(_)), "round {round}: {released:?}");
        let taken = taken.expect("answers").acquired().expect("the key was free");
        assert_eq!(store.backend().release(&taken.lock_id).await.expect("answers"), ReleaseOutcome::Released);
    }
}
