//! Behind PgBouncer in transaction mode: each transaction may meet a session that another process has used before.

use leasehold_testkit::pgbouncer::PgBouncer;
use leasehold_testkit::postgres::{Cluster, Database};

use crate::audit::{Blow, audit, blows};
use crate::served::Server;

/// Enough for processes to meet each other's sessions, of which the pooler has three.
const COMMANDS: usize = 12;

async fn pooled() -> (Database, String) {
    let database = Cluster::shared().database().await;
    let url = PgBouncer::shared().url(database.name());
    (database, url)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn stopped_server_behind_a_pooler_loses_nothing() {
    let (_database, url) = pooled().await;
    audit(&format!("{url}?pooler=transaction"), Blow::Terminate, blows(2), |_| {}).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn locks_behind_a_pooler_are_held_by_commands_and_through_a_server() {
    let (_database, url) = pooled().await;
    let url = format!("{url}?pooler=transaction");
    let server = Server::start_on(&url, &[]);
    server.run(&["health", "--timeout", "20s"]).ok();
    for number in 0..COMMANDS {
        let key = format!("billing-{number}");
        let held = server.json(&["lock", "acquire", &key, "--backend", &url]);
        assert_eq!(held["fence"], "000000000000001", "{held}");
        assert_eq!(server.run(&["lock", "acquire", &key, "--timeout", "0s"]).code, 3, "the server sees it");
        let id = held["lockId"].as_str().expect("has an id");
        server.run(&["lock", "release", id]).ok();
        server.run(&["lock", "acquire", &key, "--backend", &url]).ok();
    }
}

/// What people meet first: the pooler is there, and nobody has said so.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn pooler_that_nobody_spoke_of_is_named_by_what_fails() {
    let (_database, url) = pooled().await;
    let server = Server::start_on(&format!("{url}?pooler=transaction"), &[]);
    server.run(&["health", "--timeout", "20s"]).ok();
    server.json(&["lock", "acquire", "billing"]);
    let home = tempfile::tempdir().expect("temporary folder");
    let failed = (0..COMMANDS).find_map(|number| {
        let mut command = crate::served::leasehold(home.path());
        command.args(["lock", "acquire", &format!("billing-{number}"), "--backend", &url]);
        let ran = command.output().expect("runs");
        (!ran.status.success()).then(|| String::from_utf8_lossy(&ran.stderr).into_owned())
    });
    let said = failed.expect("a session of another process was met");
    assert!(said.contains("pooler=transaction"), "{said}");
}
