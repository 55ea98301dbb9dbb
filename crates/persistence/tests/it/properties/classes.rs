//! Property 5: error handling. Each class of failure is told as what it is, and only conflicts are tried again.

use std::time::Duration;

use leasehold_persistence::Error;
use leasehold_txn::Policy;

use super::{Bench, Pauses, all};
use crate::fixture::Change;

/// More often than once, so that a second attempt would be seen.
const TIMES: u32 = 5;

/// `in_parts` are the writes that are done in parts where the database says that they are too much.
pub(crate) async fn failures_are_not_tried_again(mut bench: Bench, in_parts: &[&str]) {
    for (failure, codes) in [
        ("limit", ["state.transaction_size_limit"].as_slice()),
        // A statement that is a transaction by itself may have been committed when no good answer comes.
        ("unavailable", &["state.unavailable", "state.unknown_outcome"]),
        ("close", &["state.unavailable", "state.unknown_outcome"]),
    ] {
        for write in all().filter(|write| failure != "limit" || !in_parts.contains(&write.name)) {
            let about = bench.about(write).await;
            bench.strike(failure, TIMES).await;
            let error = (about.prepared)(bench.fixture.database.clone()).await.expect_err(failure);
            let fired = bench.spare().await;
            assert!(codes.contains(&error.code()), "{} {failure}: {error:?}", about.name);
            assert_eq!(fired, 1, "{} {failure}: {error:?}", about.name);
            about.expect_nothing_then_do(&bench.fixture.database, &bench.outside, failure).await;
        }
    }
}

/// A conflict of a database that is not to try again is told as it comes.
pub(crate) async fn conflicts_are_told_where_nothing_is_tried_again(mut bench: Bench, failures: &[&str]) {
    for failure in failures {
        for write in all() {
            let about = bench.about(write).await;
            bench.strike(failure, TIMES).await;
            let error = (about.prepared)(bench.fixture.database.clone()).await.expect_err(failure);
            let fired = bench.spare().await;
            assert_eq!(
                (error.code(), fired),
                ("state.occ_exhausted", 1),
                "{} {failure}: {error:?}",
                about.name
            );
            assert!(!error.may_have_been_committed(), "{} {failure}: {error:?}", about.name);
            about.expect_nothing_then_do(&bench.fixture.database, &bench.outside, failure).await;
        }
    }
}

/// A lost condition is an answer: it comes without a second attempt, whatever the budget.
pub(crate) async fn second_time_answers_at_once(mut bench: Bench) {
    let pauses = Pauses::default();
    let policy = Policy::new(5, Duration::ZERO, Duration::ZERO).expect("a policy");
    let database = bench.fixture.with_retries(policy.with_jitter(pauses.clone())).await;
    for write in all() {
        let about = bench.about(write).await;
        (about.prepared)(database.clone()).await.expect("the first time");
        let done = bench.outside.content().await;
        let answer = (about.prepared)(database.clone()).await;
        assert_eq!(pauses.count(), 0, "{}", about.name);
        let code = answer.as_ref().err().map(Error::code);
        assert_eq!(code, about.again, "{}: {answer:?}", about.name);
        if answer.is_err() {
            let later = bench.outside.content().await;
            assert_eq!(done.until(&later), Change::new(), "{}", about.name);
        }
    }
}
