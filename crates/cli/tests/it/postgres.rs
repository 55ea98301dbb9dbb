//! The server over PostgreSQL, of which now one, now the other is killed under load, or asked for more than it takes; and the
//! doctor, who is shown databases that are broken on purpose.

use leasehold_testkit::postgres::{Cluster, Settings};
use leasehold_txn::tokio_postgres::{self, NoTls};

use crate::audit::{Blow, audit, blows};
use crate::served::Server;
use crate::{rolled, state_commands};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn killed_server_loses_nothing_and_hands_out_nothing_twice() {
    let cluster = Cluster::start(Settings::durable()).expect("starts");
    audit(&cluster.url("postgres"), Blow::Kill, blows(5), |_| {}).await;
}

/// Who waits for the server to be well and then asks for a lock finds the table.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn server_is_not_well_before_it_made_its_lock_tables() {
    let database = Cluster::shared().database().await;
    let (holder, connection) = tokio_postgres::connect(database.url(), NoTls).await.expect("connects");
    tokio::spawn(connection);
    let hold = "SELECT pg_advisory_lock(hashtext('leasehold.setup'))";
    holder.execute(hold, &[]).await.expect("nobody makes tables now");
    let server = Server::start_on(database.url(), &[]);
    assert_eq!(server.run(&["health"]).code, 4, "queues can be read, and locks have no table");
    holder.execute("SELECT pg_advisory_unlock_all()", &[]).await.expect("goes on");
    server.run(&["health", "--timeout", "60s"]).ok();
    server.json(&["lock", "acquire", "billing"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn stopped_server_answers_ends_well_and_loses_nothing() {
    let cluster = Cluster::start(Settings::durable()).expect("starts");
    audit(&cluster.url("postgres"), Blow::Terminate, blows(3), |_| {}).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn server_that_is_replaced_while_the_next_one_serves_loses_nothing_and_hands_out_nothing_twice() {
    let cluster = Cluster::start(Settings::durable()).expect("starts");
    rolled::roll(&cluster.url("postgres"), blows(4)).await;
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

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn state_is_set_up_and_shown() {
    let database = Cluster::shared().database().await;
    let url = database.url();
    state_commands::schema_is_planned_applied_and_checked(url, url).await;
    let bytes = |id: &str| format!("'\\x{}'::bytea", id.replace('-', ""));
    state_commands::what_is_kept_is_shown(url, url, bytes).await;
    state_commands::task_queues_are_listed_by_name(url).await;
}
