//! Property 7: metrics. What is counted is what happened.

use leasehold_txn::DsqlLevel;

use crate::fixture::together;
use crate::properties::Bench;
use crate::properties::counted::{
    Struck, conflicts_that_are_ridden_out_are_counted,
    exhausted_budgets_are_counted_as_one_error_each as exhausted_budgets, expect_quiet,
    lost_conditions_are_counted_and_are_no_errors as lost_conditions, recorded, struck,
};
use crate::writes::all;

fn bench() -> impl Future<Output = Bench> {
    Bench::dsql(DsqlLevel::KeyShare)
}

#[test]
#[ignore = "needs PostgreSQL: cargo xtask test dsql"]
fn conflicts_that_are_ridden_out_are_counted_as_conflicts_and_retries() {
    conflicts_that_are_ridden_out_are_counted(bench);
}

#[test]
#[ignore = "needs PostgreSQL: cargo xtask test dsql"]
fn exhausted_budgets_are_counted_as_one_error_each() {
    exhausted_budgets(bench());
}

#[test]
#[ignore = "needs PostgreSQL: cargo xtask test dsql"]
fn lost_conditions_are_counted_and_are_no_errors() {
    lost_conditions(bench());
}

#[test]
#[ignore = "needs PostgreSQL: cargo xtask test dsql"]
fn unknown_outcomes_are_counted_as_such() {
    let (Struck { fired, failed, undone }, recorded) =
        recorded(async { struck(bench().await, "cut_after_commit", 1).await });
    assert_eq!(fired, all().count() as u64);
    assert_eq!(undone, ["shard.get_or_create"], "the only one that begins with a look of its own");
    assert_eq!(recorded.count("dsql_unknown_outcome_total"), failed - undone.len() as u64);
    assert_eq!(recorded.count("dsql_errors_total"), failed);
    assert_eq!(recorded.count("dsql_tx_conflicts_total"), 0);
    expect_quiet(&recorded);
}

/// Contention that nobody injects: what the cluster told and what was counted agree.
#[test]
#[ignore = "needs PostgreSQL: cargo xtask test dsql"]
fn retries_rise_under_contention() {
    use leasehold_persistence::{Blob, Queue, QueueType};

    let (conflicts, recorded) = recorded(async {
        let bench = Bench::dsql(DsqlLevel::KeyShare).await;
        let queue = Queue::new(bench.fixture.database.clone(), QueueType::NAMESPACE_REPLICATION);
        queue.init(&Blob::proto3(vec![])).await.expect("a queue");
        let before = bench.fixture.conflicts();
        let enqueuers = (0..8_u8).map(|enqueuer| {
            let queue = queue.clone();
            async move {
                for _ in 0..4 {
                    queue.enqueue(&Blob::proto3(vec![enqueuer])).await.expect("an id");
                }
            }
        });
        together(enqueuers).await;
        bench.fixture.conflicts() - before
    });
    assert!(conflicts > 0, "nobody met");
    assert_eq!(recorded.count("dsql_tx_conflicts_total"), conflicts);
    assert_eq!(recorded.count("dsql_tx_retries_total"), conflicts);
    expect_quiet(&recorded);
}
