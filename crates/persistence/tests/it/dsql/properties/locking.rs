//! Property 1: locking compatibility. Nothing is sent that DSQL does not have, at either level, by the strict rules. Every
//! other test on DSQL ends with the same check, by its fixture.

use leasehold_txn::DsqlLevel;

use crate::properties::Bench;
use crate::reads::every_read;
use crate::writes::all;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test dsql"]
async fn every_operation_uses_only_what_dsql_has() {
    for level in [DsqlLevel::UpdateOnly, DsqlLevel::KeyShare] {
        let mut bench = Bench::dsql(level).await;
        for write in all() {
            let prepared = bench.prepared(write).await;
            prepared(bench.fixture.database.clone())
                .await
                .unwrap_or_else(|error| panic!("{}: {error:?}", write.name));
        }
        every_read(&bench.fixture.database).await;
        assert_eq!(bench.fixture.refusals(), 0);
    }
}

/// The check would see it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test dsql"]
async fn refusal_is_seen_by_the_fixture() {
    let bench = Bench::dsql(DsqlLevel::KeyShare).await;
    let sql = "SELECT range_id FROM shards WHERE shard_id = 1 FOR SHARE";
    let read = leasehold_txn::Statement::read(leasehold_txn::Operation::new("test.refused"), sql);
    let error = read
        .query(bench.fixture.database.pool(), &leasehold_txn::Policy::none(), &[])
        .await
        .expect_err("no FOR SHARE");
    assert_eq!(error.code(), "txn.unsupported");
    assert_eq!(bench.fixture.refusals(), 1);
    bench.fixture.expect_refusals();
}
