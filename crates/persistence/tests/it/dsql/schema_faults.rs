//! Applying the schema among conflicts, lost answers and builds that failed.

use leasehold_persistence::Difference;
use leasehold_txn::DsqlLevel;

use crate::cases::schema::{change, differences, expect_complete, schema};
use crate::fixture::Place;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test dsql"]
async fn changes_of_the_catalogue_by_others_are_ridden_out() {
    ride_out(5).await;
}

/// Each of the faults strikes at most so often.
pub(crate) async fn ride_out(times: u32) {
    let place = &Place::dsql(DsqlLevel::KeyShare).await;
    for (action, kind) in [
        ("schema_conflict_at_statement", "ddl"),
        ("schema_conflict_at_commit", "ddl"),
        ("schema_conflict_at_statement", "select"),
        ("schema_conflict_at_commit", "insert"),
    ] {
        place.arm(&format!(
            r#"{{"name": "{action}-{kind}", "action": "{action}", "kind": "{kind}", "probability": 0.3, "times": {times}}}"#
        ));
    }
    schema(place).apply(&place.pool()).await.expect("the tables");
    let fired = place.cluster().fired();
    assert!(fired > 10, "{fired} conflicts");
    place.cluster().disarm();
    expect_complete(place).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test dsql"]
async fn lost_answers_are_asked_for_again() {
    let place = &Place::dsql(DsqlLevel::KeyShare).await;
    for (action, kind, nth) in
        [("cut_after_commit", "ddl", 3), ("cut_before_commit", "ddl", 20), ("cut_after_commit", "insert", 1)]
    {
        place.arm(&format!(
            r#"{{"name": "{action}-{kind}", "action": "{action}", "kind": "{kind}", "nth": {nth}}}"#
        ));
    }
    schema(place).apply(&place.pool()).await.expect("the tables");
    let report = place.cluster().simulator().faults().report();
    assert!(report.iter().all(|rule| rule.fired == 1), "{report:?}");
    expect_complete(place).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test dsql"]
async fn index_that_is_not_valid_is_a_difference_and_is_made_again() {
    let place = &Place::dsql(DsqlLevel::KeyShare).await;
    schema(place).apply(&place.pool()).await.expect("the tables");
    change(place, "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'cm_idx_lasthb'::regclass")
        .await;
    let kinds: Vec<_> = differences(place).await.iter().map(Difference::kind).collect();
    assert_eq!(kinds, ["missing_index", "invalid_index"]);
    schema(place).apply(&place.pool()).await.expect("an index");
    expect_complete(place).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test dsql"]
async fn failed_build_of_an_index_is_seen_and_repeated() {
    let place = &Place::dsql(DsqlLevel::KeyShare).await;
    place.arm(r#"{"name": "f", "action": "fail_index_build", "times": 1}"#);
    schema(place).apply(&place.pool()).await.expect("the tables");
    expect_complete(place).await;
    change(place, "DROP INDEX cm_idx_lasthb").await;
    place.arm(r#"{"name": "f", "action": "fail_index_build", "times": 2}"#);
    let error = schema(place).apply(&place.pool()).await.expect_err("two builds failed");
    assert_eq!(error.code(), "state.refused");
    let kinds: Vec<_> = differences(place).await.iter().map(Difference::kind).collect();
    assert_eq!(kinds, ["missing_index", "invalid_index"]);
    schema(place).apply(&place.pool()).await.expect("an index");
    expect_complete(place).await;
}
