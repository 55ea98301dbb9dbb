use std::time::{Duration, Instant};

use leasehold_dsql_sim::rules::Level;
use leasehold_testkit::dsql::Simulated;
use leasehold_txn::tokio_postgres::NoTls;

use crate::diagnosis::{Diagnosis, diagnose};
use crate::served::Server;

/// A cluster, and what 'doctor' says of it.
struct Examined(Simulated);

impl Examined {
    async fn start(level: Level) -> Self {
        Examined(Simulated::start(level).await)
    }

    async fn look(&self) -> Diagnosis {
        let url = self.0.url();
        let diagnosed = tokio::task::spawn_blocking(move || diagnose(&["--store", &url]));
        diagnosed.await.expect("does not panic")
    }

    /// Until a server has made all tables.
    async fn looked_until_made(&self) -> Diagnosis {
        let started = Instant::now();
        loop {
            let found = self.look().await;
            let made = ["locks", "queues", "partitions", "access"];
            let is_made = made.iter().all(|check| found.find("ok", check, "with their columns").is_some());
            if is_made || started.elapsed() > Duration::from_secs(60) {
                return found;
            }
        }
    }

    /// A server of the binary makes a queue and a lock here, and is gone.
    async fn use_it(&self) -> Diagnosis {
        let url = self.0.url();
        let served = tokio::task::spawn_blocking(move || {
            let server = Server::start_on(&url, &[]);
            server.run(&["health", "--timeout", "20s"]).ok();
            server.json(&["queue", "create", "dead"]);
            server.json(&["queue", "create", "orders", "--dead-queue", "dead"]);
            server.json(&["queue", "produce", "orders", "--payload", "x"]);
            server
        });
        let server = served.await.expect("does not panic");
        let found = self.looked_until_made().await;
        drop(server);
        found
    }

    /// As an operator with psql would.
    async fn run(&self, sql: &str) {
        let (client, connection) =
            leasehold_txn::tokio_postgres::connect(&self.0.plain_url(), NoTls).await.expect("connects");
        tokio::spawn(connection);
        client.batch_execute(sql).await.unwrap_or_else(|error| panic!("{sql}: {error}"));
    }

    /// What cannot be brought about through the simulator.
    async fn run_behind(&self, sql: &str) {
        self.0.behind().await.batch_execute(sql).await.unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test dsql"]
async fn cluster_that_is_well_is_found_so_at_every_level() {
    for (level, words) in [(Level::L2025_05, "FOR UPDATE only"), (Level::L2026_09, "has FOR KEY SHARE")] {
        let cluster = Examined::start(level).await;
        let empty = cluster.look().await;
        assert_eq!(empty.code, 0, "{}", empty.text);
        assert!(empty.has_only("ok"), "{}", empty.text);
        empty.expect("ok", "level", "can be told when there are tables");
        empty.expect("ok", "access", "a server makes what it needs");
        let well = cluster.use_it().await;
        assert_eq!(well.code, 0, "{}", well.text);
        assert!(well.has_only("ok"), "{}", well.text);
        for (check, words) in [
            ("tls", "loopback"),
            ("reach", "connected"),
            ("credentials", "connects as admin"),
            ("version", "PostgreSQL"),
            ("permissions", "may make tables"),
            ("level", words),
            ("locks", "1 table(s)"),
            ("queues", "1 table(s)"),
            ("partitions", "3 table(s)"),
            ("access", "8 table(s)"),
            ("jobs", "none failed"),
            ("clock", "the store's clock"),
            ("connections", "100 in a second"),
        ] {
            well.expect("ok", check, words);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test dsql"]
async fn missing_and_invalid_indexes_are_named_and_what_it_says_mends_them() {
    let cluster = Examined::start(Level::L2026_09).await;
    cluster.use_it().await;
    cluster.run("DROP INDEX leasehold_items_lease_deadline").await;
    cluster
        .run_behind(
            "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'leasehold_api_keys_user'::regclass",
        )
        .await;
    let broken = cluster.look().await;
    assert_eq!(broken.code, 8, "{}", broken.text);
    let missing =
        broken.expect("problem", "partitions", "no valid index on queue, partition, lease_deadline");
    let invalid =
        broken.expect("problem", "indexes", "leasehold_api_keys_user of leasehold_api_keys is not valid");
    let again = broken.expect("problem", "access", "no valid index on user_id, id");
    let drop = invalid.split("after: ").nth(1).expect("has a statement").to_owned();
    for mend in [missing, drop, again] {
        cluster.run(&mend).await;
    }
    let mended = cluster.look().await;
    assert_eq!(mended.code, 0, "{}", mended.text);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test dsql"]
async fn what_was_lost_or_written_past_the_servers_is_told() {
    let cluster = Examined::start(Level::L2025_05).await;
    cluster.use_it().await;
    for sql in [
        "INSERT INTO leasehold_api_keys (id, hash, user_id, name, prefix, created_at) VALUES ('k', 'h', 'gone', '', '', now())",
        "INSERT INTO leasehold_roles (id, namespace, name, permissions, created_at) VALUES ('r', 'gone', 'n', '', now())",
        "INSERT INTO leasehold_role_bindings (id, namespace, user_id, role_id, created_at) VALUES ('b', 'gone', 'gone', 'r', now())",
        "DELETE FROM queues WHERE name = 'dead'",
    ] {
        cluster.run(sql).await;
    }
    cluster
        .run_behind(
            "INSERT INTO sys.jobs (job_id, status, details, object_name) VALUES ('j1', 'failed', 'a key is there twice', 'orders_by_name'),
                                                                              ('j2', 'processing', '', '')",
        )
        .await;
    let told = cluster.look().await;
    assert_eq!(told.code, 8, "{}", told.text);
    told.expect("problem", "access", "1 keys are of users that are not there");
    told.expect("problem", "access", "1 roles are of namespaces that are not there");
    told.expect("problem", "access", "1 bindings are of users or roles that are not there");
    told.expect("warning", "queues", "names the dead queue 'dead', which does not exist");
    told.expect("warning", "jobs", "job j1 of orders_by_name failed: a key is there twice");

    cluster.run("DROP TABLE leasehold_contents").await;
    cluster.run("DROP TABLE syncguard_locks").await;
    cluster.run("CREATE TABLE syncguard_locks (key text PRIMARY KEY)").await;
    let lost = cluster.look().await;
    lost.expect("problem", "partitions", "leasehold_contents missing, although others");
    lost.expect("problem", "locks", "table syncguard_locks is not ours: it lacks lock_id text");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test dsql"]
async fn cluster_that_lets_nobody_in_is_told_with_the_cure() {
    let cluster = Examined::start(Level::L2026_09).await;
    for (action, code, cure) in [
        ("reject_token", "txn.access_denied", "dsql:DbConnect"),
        ("too_many_connections", "txn.connection_limit", "lower the pools"),
    ] {
        let rule = format!(r#"{{"name": "{action}", "action": "{action}"}}"#);
        cluster.0.arm(&rule);
        let told = cluster.look().await;
        assert_eq!(told.code, 8, "{}", told.text);
        assert!(told.expect("problem", "reach", code).contains(cure), "{}", told.text);
        cluster.0.disarm();
    }
}
