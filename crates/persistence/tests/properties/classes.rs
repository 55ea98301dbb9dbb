//! Property 5: error handling. Each class of failure is told as what it is, and only conflicts are tried again.

use leasehold_core::Class;
use leasehold_persistence::Error;
use leasehold_txn::DsqlLevel;

use super::{About, Seeds, all};
use crate::fixture::{Change, Fixture};

fn rule(action: &str) -> String {
    // More often than once, so that a second attempt would be seen.
    format!(r#"{{"name": "failure", "action": "{action}", "times": 5}}"#)
}

/// Who deletes a whole as one transaction does it in parts when the database says that it is too much.
const IN_PARTS: [&str; 2] = ["execution.delete", "history.delete_branch"];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test dsql"]
async fn failures_are_not_tried_again() {
    let fixture = Fixture::dsql(DsqlLevel::KeyShare).await;
    let (outside, mut seeds) = (fixture.outside().await, Seeds(0));
    for (action, codes) in [
        ("limit", ["state.transaction_size_limit"].as_slice()),
        // A statement that is a transaction by itself may have been committed when no good answer comes.
        ("unavailable", &["state.unavailable", "state.unknown_outcome"]),
        ("close", &["state.unavailable", "state.unknown_outcome"]),
    ] {
        for write in all().filter(|write| action != "limit" || !IN_PARTS.contains(&write.name)) {
            let about = About::of(write, &fixture, &outside, &mut seeds).await;
            fixture.arm(&rule(action));
            let error = (about.prepared)(fixture.database.clone()).await.expect_err(action);
            let fired = fixture.fired();
            fixture.disarm();
            assert!(codes.contains(&error.code()), "{} {action}: {error:?}", about.name);
            assert_eq!(fired, 1, "{} {action}: {error:?}", about.name);
            about.expect_nothing_then_do(&fixture.database, &outside, action).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test dsql"]
async fn deletion_of_too_much_is_done_in_parts() {
    let fixture = Fixture::dsql(DsqlLevel::KeyShare).await;
    let (outside, mut seeds) = (fixture.outside().await, Seeds(0));
    for write in all().filter(|write| IN_PARTS.contains(&write.name)) {
        let about = About::of(write, &fixture, &outside, &mut seeds).await;
        fixture.arm(r#"{"name": "limit", "action": "limit", "times": 1}"#);
        (about.prepared)(fixture.database.clone()).await.expect("a deletion");
        assert_eq!(fixture.fired(), 1);
        fixture.disarm();
        assert_eq!(about.change(&outside).await, about.wanted, "{}", about.name);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test dsql"]
async fn no_connection_means_that_nothing_happened() {
    let fixture = Fixture::dsql(DsqlLevel::KeyShare).await;
    let (outside, mut seeds) = (fixture.outside().await, Seeds(0));
    for action in ["too_many_connections", "connection_rate"] {
        for name in ["shard.update", "namespace.create", "queue.enqueue", "membership.upsert"] {
            let write = all().find(|write| write.name == name).expect("the write");
            let about = About::of(write, &fixture, &outside, &mut seeds).await;
            let database = fixture.another(None).await;
            // Its connection ends at the next statement, so that the write needs a new one.
            fixture.arm(r#"{"name": "close", "action": "close", "times": 1}"#);
            leasehold_persistence::Shards::new(database.clone()).get(1).await.expect_err("no connection");
            fixture.disarm();
            fixture.arm(&format!(r#"{{"name": "refusal", "action": "{action}"}}"#));
            // The pool may still believe in the connection.
            let mut error = (about.prepared)(database.clone()).await.expect_err(action);
            while fixture.fired() == 0 {
                error = (about.prepared)(database.clone()).await.expect_err(action);
            }
            fixture.disarm();
            assert!(matches!(error, Error::Unavailable { .. }), "{name} {action}: {error:?}");
            assert_eq!((error.class(), error.may_have_been_committed()), (Class::Unavailable, false));
            about.expect_nothing_then_do(&database, &outside, action).await;
        }
    }
}

/// A lost condition is an answer: it comes at once, whatever the budget.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test dsql"]
async fn write_that_was_done_already_answers_at_the_first_attempt() {
    for level in [DsqlLevel::UpdateOnly, DsqlLevel::KeyShare] {
        let fixture = Fixture::dsql(level).await;
        let (outside, mut seeds) = (fixture.outside().await, Seeds(0));
        for write in all() {
            let about = About::of(write, &fixture, &outside, &mut seeds).await;
            (about.prepared)(fixture.database.clone()).await.expect("the first time");
            let done = crate::fixture::Content::of(&outside).await;
            let conflicts = fixture.conflicts();
            let answer = (about.prepared)(fixture.database.clone()).await;
            assert_eq!(fixture.conflicts(), conflicts, "{}", about.name);
            let code = answer.as_ref().err().map(Error::code);
            assert_eq!(code, about.again, "{}: {answer:?}", about.name);
            if answer.is_err() {
                let later = crate::fixture::Content::of(&outside).await;
                assert_eq!(done.until(&later), Change::new(), "{}", about.name);
            }
        }
    }
}

/// A store that is told of a lock that its cluster does not have is told by the cluster, once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test dsql"]
async fn feature_that_is_not_there_is_a_fault_of_ours() {
    let fixture = Fixture::dsql(DsqlLevel::UpdateOnly).await;
    let (outside, mut seeds) = (fixture.outside().await, Seeds(0));
    let mistaken = fixture.as_if_at(DsqlLevel::KeyShare).await;
    for name in ["execution.create", "execution.add_history_tasks"] {
        let write = all().find(|write| write.name == name).expect("the write");
        let about = About::of(write, &fixture, &outside, &mut seeds).await;
        let refusals = fixture.refusals();
        let error = (about.prepared)(mistaken.clone()).await.expect_err("no such lock");
        assert!(matches!(error, Error::Unsupported { .. }), "{name}: {error:?}");
        assert_eq!((error.class(), fixture.refusals() - refusals), (Class::Internal, 1), "{name}");
        about.expect_nothing_then_do(&fixture.database, &outside, "a refusal").await;
    }
    fixture.expect_refusals();
}
