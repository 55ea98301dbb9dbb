//! Conflicts, schema changes and lost answers in every write, one at a time.

use std::time::Duration;

use leasehold_dsql_sim::rules::Level;
use leasehold_queue::StoreError;
use leasehold_queue::store::dsql::Config;
use leasehold_txn::Policy;

use super::fixture::{Fixture, Line};
use super::writes::{ALL, content, filled};

/// Three attempts, and no time lost between them.
fn three_attempts() -> Config {
    let retries = Policy::new(3, Duration::ZERO, Duration::ZERO).expect("a policy");
    Config { retries, ..Config::default() }
}

fn rule(action: &str, times: u32) -> String {
    format!(r#"{{"name": "a", "action": "{action}", "table": "leasehold_items", "times": {times}}}"#)
}

const CONFLICTS: [&str; 4] = [
    "conflict_at_commit",
    "conflict_at_statement",
    "schema_conflict_at_commit",
    "schema_conflict_at_statement",
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test dsql"]
async fn conflicts_within_the_budget_are_not_seen() {
    let fixture = Fixture::start(Level::L2026_09).await;
    let outside = fixture.cluster.behind().await;
    let store = fixture.store_with(three_attempts());
    for action in CONFLICTS {
        for write in &ALL {
            let queue = format!("{}-{action}", write.name);
            let (mut line, ids) = filled(&store, &queue).await;
            let before = content(&outside, &queue).await;
            fixture.cluster.arm(&rule(action, 2));
            (write.run)(&mut line, ids).await.unwrap_or_else(|error| panic!("{queue}: {error:?}"));
            assert_ne!(content(&outside, &queue).await, before, "{queue}");
            let fired = fixture.cluster.fired();
            assert_eq!(fired, 2, "{queue}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test dsql"]
async fn conflicts_beyond_the_budget_change_nothing_and_the_owner_goes_on() {
    let fixture = Fixture::start(Level::L2026_09).await;
    let outside = fixture.cluster.behind().await;
    let store = fixture.store_with(three_attempts());
    for action in ["conflict_at_commit", "schema_conflict_at_commit", "unavailable", "limit"] {
        for write in &ALL {
            let queue = format!("{}-{action}", write.name);
            let (mut line, ids) = filled(&store, &queue).await;
            let before = content(&outside, &queue).await;
            fixture.cluster.arm(&rule(action, 3));
            let answer = (write.run)(&mut line, ids).await;
            fixture.cluster.disarm();
            assert!(matches!(answer, Err(StoreError::Unavailable { .. })), "{queue}: {answer:?}");
            assert_eq!(content(&outside, &queue).await, before, "{queue}");
            (write.run)(&mut line, ids).await.unwrap_or_else(|error| panic!("{queue}: {error:?}"));
            assert_ne!(content(&outside, &queue).await, before, "{queue}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test dsql"]
async fn lost_answer_is_unknown_until_the_partition_is_opened_anew() {
    let fixture = Fixture::start(Level::L2026_09).await;
    let outside = fixture.cluster.behind().await;
    let store = fixture.store();
    for (action, happened) in [("cut_after_commit", true), ("cut_before_commit", false)] {
        for write in &ALL {
            let queue = format!("{}-{action}", write.name);
            let (mut line, ids) = filled(&store, &queue).await;
            let before = content(&outside, &queue).await;
            fixture.cluster.arm(&rule(action, 1));
            let answer = (write.run)(&mut line, ids).await;
            assert!(matches!(answer, Err(StoreError::Indeterminate { .. })), "{queue}: {answer:?}");
            let after = content(&outside, &queue).await;
            assert_eq!(after != before, happened, "{queue}");
            let answer = (write.run)(&mut line, ids).await;
            assert!(
                matches!(answer, Err(StoreError::Fenced { .. })),
                "{queue} is not its owner's: {answer:?}"
            );
            line.owner.open().await.expect("opens");
            assert_eq!(content(&outside, &queue).await, after, "{queue}");
        }
    }
}

/// A connection that is closed in front of a statement, as at the end of its lifetime, was in no COMMIT.
#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test dsql"]
async fn answer_lost_while_opening_leaves_nothing_open() {
    let fixture = Fixture::start(Level::L2026_09).await;
    let (mut line, _) = filled(&fixture.store(), "orders").await;
    for action in ["cut_after_commit", "cut_before_commit", "close"] {
        fixture.cluster.arm(&rule(action, 1));
        let answer = line.owner.open().await;
        assert!(matches!(answer, Err(StoreError::Unavailable { .. })), "{action}: {answer:?}");
        let opened = line.owner.open().await.expect("opens");
        assert_eq!((opened.counts.ready, opened.counts.leased), (1, 1), "{action}");
    }
}

/// Two stores meet an empty cluster at the same time, with a schema that changes under both.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test dsql"]
async fn tables_are_made_by_two_at_once() {
    for level in Level::ALL {
        let fixture = Fixture::start(*level).await;
        let (one, other) = (fixture.store(), fixture.store());
        let (mut one, mut other) = tokio::join!(Line::open(&one, "one"), Line::open(&other, "other"));
        for line in [&mut one, &mut other] {
            let item = line.item("x");
            line.owner.produce(&[item]).await.expect("produce");
        }
        let outside = fixture.cluster.behind().await;
        let indexes = "SELECT count(*) FROM pg_indexes WHERE tablename = 'leasehold_items'";
        assert_eq!(outside.query_one(indexes, &[]).await.expect("a number").get::<_, i64>(0), 5);
    }
}
