//! The random cases of the contract, with as many seeds as the time allows.
//!
//! `cargo xtask soak locks --minutes 10 --seed 1`

use std::time::{Duration, Instant};

use leasehold_locks::conformance::{Start, Store, concurrency, fencing, history, start};

use crate::embedded::Embedded;
use crate::memory::Memory;

async fn soak(start: Start) {
    let minutes: u64 =
        std::env::var("LEASEHOLD_SOAK_MINUTES").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    let deadline = Instant::now() + Duration::from_secs(30 * minutes);
    let mut rounds = 0;
    while rounds == 0 || Instant::now() < deadline {
        let store = Store::start(start).await;
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
    soak(start::<Memory>).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "runs for minutes: cargo xtask soak locks"]
async fn embedded_keeps_its_promises() {
    soak(start::<Embedded>).await;
}
