//! The server over PostgreSQL, of which now one, now the other is killed under load; and the doctor, who is shown
//! databases that are broken on purpose.

mod audit;
mod diagnosis;
mod doctor_on_postgres;
mod served;
mod simulated;

use audit::{Blow, audit, blows};
use leasehold_testkit::postgres::{Cluster, Settings};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn killed_server_loses_nothing_and_hands_out_nothing_twice() {
    let cluster = Cluster::start(Settings::durable()).expect("starts");
    audit(&cluster.url("postgres"), Blow::Kill, blows(5), |_| {}).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn killed_database_loses_nothing_and_nothing_is_handed_out_twice() {
    let cluster = Cluster::start(Settings::durable()).expect("starts");
    let strike = |_| {
        cluster.kill().expect("dies");
        cluster.restart().expect("comes back");
    };
    audit(&cluster.url("postgres"), Blow::None, blows(4), strike).await;
}
