//! Property 8: initialisation.

use leasehold_txn::Dialect;

use super::REPEATABLE_READ;
use crate::fixture::Place;
use crate::properties::opening::two_services_open_an_empty_database_twice;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn two_services_open_an_empty_database_at_once_and_again() {
    for dialect in [Dialect::POSTGRES, REPEATABLE_READ] {
        two_services_open_an_empty_database_twice(&Place::postgres_as(dialect).await).await;
    }
}
