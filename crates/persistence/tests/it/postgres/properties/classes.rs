//! Property 5: error handling.

use leasehold_core::Class;
use leasehold_persistence::{Config, Database};
use leasehold_txn::{Dialect, Isolation};

use super::REPEATABLE_READ;
use crate::fixture::Place;
use crate::properties::classes::{
    conflicts_are_told_where_nothing_is_tried_again, failures_are_not_tried_again as are_not_tried_again,
    second_time_answers_at_once,
};
use crate::properties::{Bench, write};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn failures_are_not_tried_again() {
    for dialect in [Dialect::POSTGRES, REPEATABLE_READ] {
        are_not_tried_again(Bench::postgres(dialect).await, &[]).await;
    }
}

/// A server that says no is there.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn refusal_is_told_as_one_and_not_as_an_absence() {
    let mut bench = Bench::postgres(Dialect::POSTGRES).await;
    for (failure, code, class) in [
        ("no_permission", "state.refused", Class::Rejected),
        ("no_table", "state.refused", Class::Internal),
        ("out_of_range", "state.refused", Class::Rejected),
        ("unsupported", "state.unsupported", Class::Internal),
        ("conflict_at_statement", "state.occ_exhausted", Class::Conflict),
        ("unavailable", "state.unavailable", Class::Unavailable),
    ] {
        for name in ["namespace.create", "queue.enqueue", "execution.create"] {
            let about = bench.about(write(name)).await;
            bench.strike(failure, 1).await;
            let error = (about.prepared)(bench.fixture.database.clone()).await.expect_err(failure);
            assert_eq!(bench.spare().await, 1, "{name} {failure}");
            assert_eq!((error.code(), error.class()), (code, class), "{name} {failure}: {error:?}");
            assert_eq!(error.to_string().contains("available"), class == Class::Unavailable, "{error}");
            about.expect_nothing_then_do(&bench.fixture.database, &bench.outside, failure).await;
        }
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
