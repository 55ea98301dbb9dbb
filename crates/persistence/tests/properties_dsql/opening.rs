//! Property 8: initialisation.

use leasehold_txn::DsqlLevel;

use crate::fixture::Place;
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
