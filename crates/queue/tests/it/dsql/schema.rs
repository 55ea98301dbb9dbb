//! The indexes: built to the end before a partition is opened.

use leasehold_dsql_sim::rules::Level;

use super::fixture::{Fixture, Line};

const INDEXES: &str =
    "SELECT count(*) FROM pg_class AS made JOIN pg_index AS built ON built.indexrelid = made.oid
                        WHERE built.indisvalid AND made.relname IN ('leasehold_items_lease_deadline',
                                  'leasehold_items_expire_deadline', 'leasehold_items_enqueue_at')";

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test dsql"]
async fn index_whose_build_failed_is_made_again() {
    let fixture = Fixture::start(Level::L2026_09).await;
    let outside = fixture.cluster.behind().await;
    fixture.cluster.arm(r#"{"name": "f", "action": "fail_index_build", "times": 1}"#);
    Line::open(&fixture.store(), "line").await.owner.close().await;
    let row = outside.query_one(INDEXES, &[]).await.expect("counts");
    assert_eq!((row.get::<_, i64>(0), fixture.cluster.fired()), (3, 1));
    let fail =
        "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'leasehold_items_enqueue_at'::regclass";
    outside.batch_execute(fail).await.expect("invalid");
    Line::open(&fixture.store(), "line").await.owner.close().await;
    assert_eq!(outside.query_one(INDEXES, &[]).await.expect("counts").get::<_, i64>(0), 3);
}
