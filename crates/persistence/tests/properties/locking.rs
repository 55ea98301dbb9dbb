//! Property 1: locking compatibility. Nothing is sent that DSQL does not have, at either level, by the strict rules. Every
//! other test on DSQL ends with the same check, by its fixture.

use leasehold_txn::DsqlLevel;

use super::{Seeds, all};
use crate::fixture::Fixture;
use crate::reads::every_read;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test dsql"]
async fn every_operation_uses_only_what_dsql_has() {
    for level in [DsqlLevel::UpdateOnly, DsqlLevel::KeyShare] {
        let fixture = Fixture::dsql(level).await;
        let mut seeds = Seeds(0);
        for write in all() {
            let prepared = (write.prepare)(fixture.database.clone(), seeds.next()).await;
            prepared(fixture.database.clone())
                .await
                .unwrap_or_else(|error| panic!("{}: {error:?}", write.name));
        }
        every_read(&fixture.database).await;
        assert_eq!(fixture.refusals(), 0);
    }
}

/// The check would see it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test dsql"]
async fn refusal_is_seen_by_the_fixture() {
    let fixture = Fixture::dsql(DsqlLevel::KeyShare).await;
    let sql = "SELECT range_id FROM shards WHERE shard_id = 1 FOR SHARE";
    let read = leasehold_txn::Statement::read(leasehold_txn::Operation::new("test.refused"), sql);
    let error = read
        .query(fixture.database.pool(), &leasehold_txn::Policy::none(), &[])
        .await
        .expect_err("no FOR SHARE");
    assert_eq!(error.code(), "txn.unsupported");
    assert_eq!(fixture.refusals(), 1);
    fixture.expect_refusals();
}
