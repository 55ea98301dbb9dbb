//! The same requests on PostgreSQL and on DSQL, for as long as asked, and a schema that is applied among many conflicts.
//!
//! `cargo xtask soak persistence --minutes 10 --seed 1`

use std::time::{Duration, Instant};

use leasehold_txn::DsqlLevel;

use crate::cases::execution_model::operations_answer_and_store_what_the_model_says;
use crate::dsql::properties::differential::same_requests_end_the_same;
use crate::dsql::schema_faults::ride_out;
use crate::fixture::Fixture;
use crate::postgres::properties::opening::open_empty_databases;

/// Of one pair of databases: to look at all that they hold takes longer with each.
const CASES: u64 = 100;

fn from_environment(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

async fn same_requests_for_as_long_as_asked(level: DsqlLevel) {
    let minutes = from_environment("LEASEHOLD_SOAK_MINUTES").unwrap_or(1);
    let deadline = Instant::now() + Duration::from_secs(60 * minutes);
    let mut first = from_environment("LEASEHOLD_SOAK_SEED").unwrap_or(1);
    loop {
        same_requests_end_the_same(level, first..first + CASES).await;
        first += CASES;
        if Instant::now() >= deadline {
            break;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "runs for minutes and needs PostgreSQL: cargo xtask soak persistence"]
async fn many_requests_end_the_same_as_at_2025_05() {
    same_requests_for_as_long_as_asked(DsqlLevel::UpdateOnly).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "runs for minutes and needs PostgreSQL: cargo xtask soak persistence"]
async fn many_requests_end_the_same_as_at_2026_09() {
    same_requests_for_as_long_as_asked(DsqlLevel::KeyShare).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "runs for minutes and needs PostgreSQL: cargo xtask soak persistence"]
async fn many_changes_of_the_catalogue_by_others_are_ridden_out() {
    ride_out(40).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "runs for minutes and needs PostgreSQL: cargo xtask soak persistence"]
async fn two_services_open_hundreds_of_empty_databases_at_once() {
    let first = from_environment("LEASEHOLD_SOAK_SEED").unwrap_or(1) % 1_000_000_007;
    open_empty_databases(first..first + 200).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "runs for minutes and needs PostgreSQL: cargo xtask soak persistence"]
async fn many_random_operations_answer_and_store_what_the_model_says() {
    let first = from_environment("LEASEHOLD_SOAK_SEED").unwrap_or(1) % 1_000_000_007;
    for level in [DsqlLevel::UpdateOnly, DsqlLevel::KeyShare] {
        operations_answer_and_store_what_the_model_says(&Fixture::dsql(level).await, first..first + 500)
            .await;
    }
}
