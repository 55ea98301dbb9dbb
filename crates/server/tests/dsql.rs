//! The server over DSQL, simulated: queues and locks there, who may do what elsewhere.

#[allow(dead_code, reason = "each test target uses its part")]
mod wire;

use std::time::Duration;

use leasehold_dsql_sim::{Config as SimulatorConfig, Simulator};
use leasehold_server::Server;
use leasehold_testkit::postgres::{Cluster, Database};
use serde_json::json;

use crate::wire::cases::queue_cases;
use crate::wire::{Running, config};

async fn start() -> (Running, (Simulator, Database)) {
    let database = Cluster::shared().database().await;
    let simulator = SimulatorConfig::new(database.url().parse().expect("a URL"));
    let simulator = Simulator::start(simulator).await.expect("the simulator starts");
    let mut config = config(&format!("dsql://admin:any@{}/postgres?sslmode=disable", simulator.address()));
    config.queues.access = Some("memory:".parse().expect("a store"));
    (Running::start(config).await, (simulator, database))
}

queue_cases!(start, [ignore = "needs PostgreSQL: cargo xtask test dsql"]);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test dsql"]
async fn locks_are_in_the_same_place() {
    let (server, _simulator) = start().await;
    let acquire = async {
        loop {
            let request = json!({"key": "billing", "ttlMs": 60_000});
            let answer = server.post("/v1/lock.acquire", request).await;
            // The table is made beside the first requests.
            if answer.status == 200 {
                return answer.json();
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let acquired = tokio::time::timeout(Duration::from_secs(60), acquire).await.expect("in time");
    assert_eq!(acquired["fence"], "000000000000001", "{acquired}");
}

#[tokio::test]
async fn who_may_do_what_needs_another_place() {
    let config = config("dsql://admin:any@127.0.0.1:1/postgres?sslmode=disable");
    let Err(error) = Server::bind(&config).await else { panic!("nowhere to keep namespaces") };
    assert_eq!(error.code(), "server.access_on_dsql");
}
