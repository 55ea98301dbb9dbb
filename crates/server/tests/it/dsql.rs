//! The server over DSQL, simulated: queues, locks, and who may do what.

use leasehold_dsql_sim::rules::Level;
use leasehold_testkit::dsql::Simulated;

use crate::wire::cases::queue_cases;
use crate::wire::{Running, config, restart};

async fn simulated() -> (leasehold_server::Config, Simulated) {
    let cluster = Simulated::start(Level::L2026_09).await;
    (config(&cluster.url()), cluster)
}

async fn start() -> (Running, Simulated) {
    let (config, cluster) = simulated().await;
    (Running::start(config).await, cluster)
}

queue_cases!(start, [ignore = "needs PostgreSQL: cargo xtask test dsql"]);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test dsql"]
async fn queues_locks_and_rights_outlive_the_server() {
    let (config, _cluster) = simulated().await;
    restart::queues_locks_and_rights_outlive_the_server(config).await;
}
