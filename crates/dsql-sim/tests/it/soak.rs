//! Random histories for as long as asked, and 10,000 increments of one row by 8 clients.
//!
//! `cargo xtask soak dsql-sim --minutes 10 --seed 1`

use std::time::{Duration, Instant};

use leasehold_dsql_sim::rules::Level;

use crate::contention::increment_by_many;
use crate::model::{self, Budget, concurrent};

/// However short the soak is.
const HISTORIES_MIN: u64 = 2_000;

fn budget() -> Budget {
    let minutes = from_environment("LEASEHOLD_SOAK_MINUTES").unwrap_or(1);
    Budget {
        first_seed: from_environment("LEASEHOLD_SOAK_SEED").unwrap_or(1),
        histories: HISTORIES_MIN,
        until: Some(Instant::now() + Duration::from_secs(60 * minutes)),
    }
}

fn from_environment(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

#[tokio::test]
#[ignore = "runs for minutes and needs PostgreSQL: cargo xtask soak dsql-sim"]
async fn many_random_histories_commit_and_abort_as_the_model_does() {
    model::run_all(budget()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "runs for minutes and needs PostgreSQL: cargo xtask soak dsql-sim"]
async fn many_concurrent_histories_have_an_order_at_level_2026_09() {
    concurrent::run_all(Level::L2026_09, budget()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "runs for minutes and needs PostgreSQL: cargo xtask soak dsql-sim"]
async fn many_concurrent_histories_have_an_order_at_level_2025_05() {
    concurrent::run_all(Level::L2025_05, budget()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "runs for minutes and needs PostgreSQL: cargo xtask soak dsql-sim"]
async fn ten_thousand_increments_of_many_clients_are_all_there() {
    increment_by_many(10_000).await;
}
