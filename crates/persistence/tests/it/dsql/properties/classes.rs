//! Property 5: error handling. Each class of failure is told as what it is, and only conflicts are tried again.

use leasehold_core::Class;
use leasehold_persistence::Error;
use leasehold_txn::DsqlLevel;

use crate::fixture::together;
use crate::properties::classes::{
    failures_are_not_tried_again as are_not_tried_again, second_time_answers_at_once,
};
use crate::properties::{Bench, write};
use crate::writes::all;

/// Who deletes a whole as one transaction does it in parts when the database says that it is too much.
const IN_PARTS: [&str; 2] = ["execution.delete", "history.delete_branch"];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test dsql"]
async fn failures_are_not_tried_again() {
    are_not_tried_again(Bench::dsql(DsqlLevel::KeyShare).await, &IN_PARTS).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test dsql"]
async fn deletion_of_too_much_is_done_in_parts() {
    let mut bench = Bench::dsql(DsqlLevel::KeyShare).await;
    for write in all().filter(|write| IN_PARTS.contains(&write.name)) {
        let about = bench.about(write).await;
        bench.fixture.arm(r#"{"name": "limit", "action": "limit", "times": 1}"#);
        (about.prepared)(bench.fixture.database.clone()).await.expect("a deletion");
        assert_eq!(bench.fixture.fired(), 1);
        bench.fixture.disarm();
        assert_eq!(about.change(&bench.outside).await, about.wanted, "{}", about.name);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test dsql"]
async fn no_connection_means_that_nothing_happened() {
    // Each time a pool pauses between its attempts, for a second and a half.
    let names = ["shard.take_over", "namespace.create", "queue.enqueue", "membership.upsert"];
    let refused = ["too_many_connections", "connection_rate"]
        .into_iter()
        .flat_map(|action| names.map(|name| without_connection(action, name)));
    Box::pin(together(refused)).await;
}

async fn without_connection(action: &'static str, name: &'static str) {
    let mut bench = Bench::dsql(DsqlLevel::KeyShare).await;
    let about = bench.about(write(name)).await;
    let database = bench.fixture.another(None).await;
    // Its connection ends at the next statement, so that the write needs a new one.
    bench.fixture.arm(r#"{"name": "close", "action": "close", "times": 1}"#);
    leasehold_persistence::Shards::new(database.clone()).get(1).await.expect_err("no connection");
    bench.fixture.disarm();
    bench.fixture.arm(&format!(r#"{{"name": "refusal", "action": "{action}"}}"#));
    // The pool may still believe in the connection.
    let mut error = (about.prepared)(database.clone()).await.expect_err(action);
    while bench.fixture.fired() == 0 {
        error = (about.prepared)(database.clone()).await.expect_err(action);
    }
    bench.fixture.disarm();
    assert!(matches!(error, Error::Unavailable { .. }), "{name} {action}: {error:?}");
    assert_eq!((error.class(), error.may_have_been_committed()), (Class::Unavailable, false));
    about.expect_nothing_then_do(&database, &bench.outside, action).await;
}

/// A lost condition is an answer: it comes at once, whatever the budget.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test dsql"]
async fn write_that_was_done_already_answers_at_the_first_attempt() {
    for level in [DsqlLevel::UpdateOnly, DsqlLevel::KeyShare] {
        second_time_answers_at_once(Bench::dsql(level).await).await;
    }
}
