//! Property 5: error handling.

use leasehold_persistence::{Config, Database};
use leasehold_txn::{Dialect, Isolation};

use super::REPEATABLE_READ;
use crate::fixture::Place;
use crate::properties::Bench;
use crate::properties::classes::{
    conflicts_are_told_where_nothing_is_tried_again, failures_are_not_tried_again as are_not_tried_again,
    second_time_answers_at_once,
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn failures_are_not_tried_again() {
    for dialect in [Dialect::POSTGRES, REPEATABLE_READ] {
        are_not_tried_again(Bench::postgres(dialect).await, &[]).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn deadlocks_are_told_where_nothing_is_tried_again() {
    let failures = ["deadlock_at_statement", "conflict_at_commit"];
    conflicts_are_told_where_nothing_is_tried_again(Bench::postgres(Dialect::POSTGRES).await, &failures)
        .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn write_that_was_done_already_answers_at_the_first_attempt() {
    second_time_answers_at_once(Bench::postgres(REPEATABLE_READ).await).await;
}

/// Whoever lost a race would be told that the database is not available.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn repeatable_read_without_retries_is_refused() {
    let dialect = Dialect::Postgres { isolation: Isolation::RepeatableRead, retry_conflicts: false };
    let pool = Place::postgres_as(dialect).await.pool();
    let error = Database::open(pool, Config::new(dialect)).await.expect_err("no retries");
    assert_eq!(error.code(), "state.invalid_request");
    assert!(error.to_string().contains("REPEATABLE READ"), "{error}");
}
