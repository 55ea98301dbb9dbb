//! The server over DSQL, simulated: queues, locks, and who may do what.

#[allow(dead_code, reason = "each test target uses its part")]
mod wire;

use leasehold_dsql_sim::{Config as SimulatorConfig, Simulator};
use leasehold_testkit::postgres::{self as testkit, Database};

use crate::wire::cases::queue_cases;
use crate::wire::{Running, config};

type Cluster = (Simulator, Database);

async fn simulated() -> (leasehold_server::Config, Cluster) {
    let database = testkit::Cluster::shared().database().await;
    let simulator = SimulatorConfig::new(database.url().parse().expect("a URL"));
    let simulator = Simulator::start(simulator).await.expect("the simulator starts");
    let store = format!("dsql://admin:any@{}/postgres?sslmode=disable", simulator.address());
    (config(&store), (simulator, database))
}

async fn start() -> (Running, Cluster) {
    let (config, cluster) = simulated().await;
    (Running::start(config).await, cluster)
}

queue_cases!(start, [ignore = "needs PostgreSQL: cargo xtask test dsql"]);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test dsql"]
async fn queues_locks_and_rights_outlive_the_server() {
    let (config, _cluster) = simulated().await;
    wire::restart::queues_locks_and_rights_outlive_the_server(config).await;
}
