//! Property 8: initialisation.

use leasehold_core::Class;
use leasehold_persistence::FenceMode;
use leasehold_txn::DsqlLevel;

use crate::fixture::{Fixture, Place};
use crate::properties::opening::two_services_open_an_empty_database_twice;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test dsql"]
async fn two_services_open_an_empty_cluster_twice() {
    for level in [DsqlLevel::UpdateOnly, DsqlLevel::KeyShare] {
        let place = Place::dsql(level).await;
        two_services_open_an_empty_database_twice(&place).await;
        place.expect_no_refusals();
    }
}

/// Nobody says which level a cluster has; it is asked.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test dsql"]
async fn cluster_is_fenced_with_the_best_that_it_has() {
    for (level, wanted) in
        [(DsqlLevel::UpdateOnly, FenceMode::Update), (DsqlLevel::KeyShare, FenceMode::KeyShare)]
    {
        let fixture = Fixture::dsql(level).await;
        let database = fixture.by_its_url(None).await.expect("a database");
        assert_eq!(database.fence_mode(), wanted);
        fixture.shard(1).await;
        let task = crate::fixture::runs::transfer(1);
        let executions = leasehold_persistence::Executions::new(database);
        executions.add_history_tasks(1, 1, &[task]).await.expect("a task");
    }
}

/// When it is opened, not when it is first written to.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test dsql"]
async fn lock_that_the_cluster_lacks_is_refused_at_once() {
    for (level, lacking, had) in [
        (
            DsqlLevel::UpdateOnly,
            [FenceMode::Share, FenceMode::KeyShare].as_slice(),
            [FenceMode::Update].as_slice(),
        ),
        (DsqlLevel::KeyShare, &[FenceMode::Share], &[FenceMode::KeyShare, FenceMode::Update]),
    ] {
        let fixture = Fixture::dsql(level).await;
        for mode in lacking {
            let error = fixture.by_its_url(Some(*mode)).await.expect_err("no such lock");
            assert_eq!((error.code(), error.class()), ("state.bad_schema", Class::Rejected));
            assert!(error.to_string().contains(mode.as_str()), "{error}");
        }
        for mode in had {
            let database = fixture.by_its_url(Some(*mode)).await.expect("a database");
            assert_eq!(database.fence_mode(), *mode);
        }
    }
}
