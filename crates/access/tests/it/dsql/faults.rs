//! Conflicts, schema changes and lost answers in every write, one at a time.

use std::time::Duration;

use leasehold_access::StoreError;
use leasehold_access::store::dsql::Config;
use leasehold_dsql_sim::rules::Level;
use leasehold_txn::Policy;

use super::fixture::Fixture;
use super::writes::{ALL, All, content, fill};

/// Three attempts, and no time lost between them.
fn three_attempts() -> Config {
    let retries = Policy::new(3, Duration::ZERO, Duration::ZERO).expect("a policy");
    Config { retries, ..Config::default() }
}

fn rule(action: &str, times: u32) -> String {
    format!(r#"{{"name": "a", "action": "{action}", "times": {times}}}"#)
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
    let fixture = Fixture::with_tables(Level::L2025_05).await;
    let (outside, all) = (fixture.cluster.behind().await, All::from(fixture.stores(three_attempts())));
    for action in CONFLICTS {
        for write in &ALL {
            fill(&outside, &all).await;
            let before = content(&outside).await;
            fixture.cluster.arm(&rule(action, 2));
            let written = (write.run)(&all).await;
            assert!(matches!(written, Ok(true)), "{} {action}: {written:?}", write.name);
            assert_ne!(content(&outside).await, before, "{} {action}", write.name);
            assert_eq!(fixture.cluster.fired(), 2, "{} {action}", write.name);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test dsql"]
async fn conflicts_beyond_the_budget_change_nothing() {
    let fixture = Fixture::with_tables(Level::L2026_09).await;
    let (outside, all) = (fixture.cluster.behind().await, All::from(fixture.stores(three_attempts())));
    for action in ["conflict_at_commit", "schema_conflict_at_commit", "limit"] {
        for write in &ALL {
            fill(&outside, &all).await;
            let before = content(&outside).await;
            fixture.cluster.arm(&rule(action, 3));
            let written = (write.run)(&all).await;
            fixture.cluster.disarm();
            let is_told = matches!(written, Err(StoreError::Unavailable { .. }));
            assert!(is_told, "{} {action}: {written:?}", write.name);
            assert_eq!(content(&outside).await, before, "{} {action}", write.name);
            let written = (write.run)(&all).await;
            assert!(matches!(written, Ok(true)), "{} {action}: {written:?}", write.name);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test dsql"]
async fn lost_answer_is_unknown() {
    let fixture = Fixture::with_tables(Level::L2026_09).await;
    let (outside, all) = (fixture.cluster.behind().await, All::from(fixture.stores(Config::default())));
    for (action, happened) in [("cut_after_commit", true), ("cut_before_commit", false)] {
        for write in &ALL {
            fill(&outside, &all).await;
            let before = content(&outside).await;
            fixture.cluster.arm(&rule(action, 1));
            let written = (write.run)(&all).await;
            let is_told = matches!(written, Err(StoreError::Indeterminate { .. }));
            assert!(is_told, "{} {action}: {written:?}", write.name);
            assert_eq!(content(&outside).await != before, happened, "{} {action}", write.name);
        }
    }
}
