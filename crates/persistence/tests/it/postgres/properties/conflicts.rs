//! Property 3: conflict retry.

use super::{REPEATABLE_READ, RETRYING};
use crate::properties::Bench;
use crate::properties::conflicts::every_write_takes_one_attempt_more_than_conflicts;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn every_write_takes_one_attempt_more_than_conflicts_of_snapshots() {
    let failures = ["conflict_at_statement", "conflict_at_commit"];
    every_write_takes_one_attempt_more_than_conflicts(Bench::postgres(REPEATABLE_READ).await, &failures)
        .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn every_write_takes_one_attempt_more_than_deadlocks() {
    let failures = ["deadlock_at_statement"];
    every_write_takes_one_attempt_more_than_conflicts(Bench::postgres(RETRYING).await, &failures).await;
}
