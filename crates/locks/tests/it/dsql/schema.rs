//! Setting the table up within DSQL's limits.

use leasehold_core::LockCode;
use leasehold_core::postgres::TableNames;
use leasehold_dsql_sim::rules::{Level, lint};
use leasehold_locks::backend::dsql::{Config, setup_sql};
use leasehold_locks::{Error, LockBackend};

use super::fixture::{Fixture, request};

#[test]
fn script_passes_the_rules_of_every_level() {
    for level in Level::ALL {
        let findings = lint(&setup_sql(&TableNames::default()), *level, true, false);
        assert!(findings.is_empty(), "{level}: {findings:?}");
    }
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test dsql"]
async fn set_up_works_twice_and_at_once() {
    for level in Level::ALL {
        let fixture = Fixture::empty(*level).await;
        let (one, other) = (fixture.backend(), fixture.backend());
        let (first, second) = tokio::join!(one.setup_schema(), other.setup_schema());
        first.expect("set up");
        second.expect("set up at the same time");
        one.setup_schema().await.expect("set up again");
        assert!(one.acquire(&request("billing")).await.expect("answers").acquired().is_some());
        let indexes = "SELECT count(*) FROM pg_indexes WHERE tablename = 'syncguard_locks'";
        assert_eq!(fixture.number(indexes).await, 2);
    }
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test dsql"]
async fn tables_of_other_names_are_other_locks() {
    let fixture = Fixture::start(Level::L2026_09).await;
    let tables = TableNames::parse("order", "unused").expect("names");
    let other = fixture.backend_with(Config { tables, ..Config::default() });
    other.setup_schema().await.expect("set up");
    assert!(fixture.backend().acquire(&request("billing")).await.expect("answers").acquired().is_some());
    assert!(other.acquire(&request("billing")).await.expect("answers").acquired().is_some());
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test dsql"]
async fn set_up_does_not_succeed_over_an_index_that_is_not_built() {
    let fixture = Fixture::empty(Level::L2026_09).await;
    let valid = "SELECT count(*) FROM pg_index WHERE indexrelid = to_regclass('idx_syncguard_locks_lock_id') AND indisvalid";
    fixture.cluster.arm(r#"{"name": "f", "action": "fail_index_build", "times": 2}"#);
    let error = fixture.backend().setup_schema().await.expect_err("two builds failed");
    assert!(matches!(&error, Error::Store { lock_code: LockCode::InvalidArgument, .. }), "{error:?}");
    assert_eq!(fixture.number(valid).await, 0);
    fixture.backend().setup_schema().await.expect("made again");
    assert_eq!((fixture.number(valid).await, fixture.cluster.fired()), (1, 2));
}
