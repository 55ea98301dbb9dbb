//! The server over a PostgreSQL that comes and goes.

use std::time::Duration;

use leasehold_server::{Config, Server};
use leasehold_testkit::postgres::{Cluster, Settings};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::oneshot;

use crate::wire;

async fn health(address: std::net::SocketAddr) -> String {
    let mut stream = TcpStream::connect(address).await.expect("connects");
    let request = b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    stream.write_all(request).await.expect("sends");
    let mut reply = String::new();
    stream.read_to_string(&mut reply).await.expect("answers");
    reply.lines().next().expect("has a status line").to_owned()
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn health_follows_the_database_down_and_up_again() {
    let cluster = Cluster::start(Settings::fast()).expect("starts");
    let store = cluster.url("postgres").parse().expect("is a location");
    let config = Config { stop_timeout: Duration::from_secs(1), ..Config::new("127.0.0.1:0", store) };
    let server = Server::bind(&config).await.expect("binds");
    let address = server.address();
    let (stop, stopped) = oneshot::channel::<()>();
    let running = tokio::spawn(server.run(async { drop(stopped.await) }));

    assert_eq!(health(address).await, "HTTP/1.1 200 OK");
    cluster.kill().expect("dies");
    assert_eq!(health(address).await, "HTTP/1.1 503 Service Unavailable");
    cluster.restart().expect("comes back");
    assert_eq!(health(address).await, "HTTP/1.1 200 OK");

    drop(stop);
    running.await.expect("ends").expect("stops cleanly");
}

mod queue {
    use leasehold_testkit::postgres::{Cluster, Settings};

    use crate::wire::cases::queue_cases;
    use crate::wire::{Running, config};

    async fn start() -> (Running, Cluster) {
        let cluster = Cluster::start(Settings::fast()).expect("starts");
        (Running::start(config(&cluster.url("postgres"))).await, cluster)
    }

    queue_cases!(start, [ignore = "needs PostgreSQL: cargo xtask test postgres"]);

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    #[ignore = "needs PostgreSQL: cargo xtask test postgres"]
    async fn queues_locks_and_rights_outlive_the_server() {
        let cluster = Cluster::start(Settings::fast()).expect("starts");
        let config = config(&cluster.url("postgres"));
        crate::wire::restart::queues_locks_and_rights_outlive_the_server(config).await;
    }
}

/// A request that is refused takes nothing from anybody.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn refused_request_to_one_server_leaves_the_partitions_to_the_other() {
    use serde_json::json;

    let cluster = Cluster::start(Settings::fast()).expect("starts");
    let mut config = wire::config(&cluster.url("postgres"));
    config.auth = leasehold_access::Driver::Internal;
    let (owner, other) = (wire::Running::start(config.clone()).await, wire::Running::start(config).await);
    let user = owner.done("/v1/users.create", json!({"username": "ann"})).await["id"].clone();
    let admin = json!({"namespace": "_system", "role_name": "Admin", "user_id": user});
    owner.done("/v1/rolebindings.create", admin).await;
    let key = owner.done("/v1/apikeys.create", json!({"user_id": user, "name": "laptop"})).await;
    let key = key["key"].as_str().expect("a key").to_owned();
    owner.queue("taken").await;
    let door = json!({"namespace": "_system", "role_name": "Admin", "user_id": "anonymous"});
    assert_eq!(wire::with_key(&owner, &key, "/v1/rolebindings.delete", door).await.status, 200);

    // What a server knows of roles may be some seconds old.
    let produce = || json!({"queue_name": "taken", "request_timeout": "5s", "items": [{"utf8": "x"}]});
    let stats = || json!({"queue_name": "not-there"});
    let closed = async {
        while other.post("/v1/queue.stats", stats()).await.status != 403 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), closed).await.expect("it learns of it");
    assert_eq!(other.refused("/v1/queue.produce", produce()).await.0, 403);
    let figures = other.request(http::Request::get("/"), "/metrics", "").await;
    let figures = String::from_utf8(figures.body.to_vec()).expect("text");
    assert!(!figures.contains("queue=\"taken\""), "it was opened: {figures}");
    let produced = wire::with_key(&owner, &key, "/v1/queue.produce", produce()).await;
    assert_eq!(produced.status, 200, "{produced:?}");
}

/// Whoever filled the database named its only place his own way; with `--store` alone there is no other.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn queue_of_another_server_is_served_whatever_it_called_its_store() {
    use leasehold_queue::store::postgres::{Config as QueuesConfig, PostgresQueues};
    use leasehold_queue::{Namespace, PartitionInfo, QueueChange, QueueInfo, QueueStore};

    let cluster = Cluster::start(Settings::fast()).expect("starts");
    let url = cluster.url("postgres");
    let pool =
        leasehold_txn::Pool::new(leasehold_txn::Config::new(url.parse().expect("a url"))).expect("a pool");
    let change = QueueChange {
        lease_timeout: Duration::from_secs(60),
        expire_timeout: Duration::from_secs(3_600),
        requested_partitions: 1,
        ..QueueChange::default()
    };
    let record = QueueInfo {
        name: "theirs".parse().expect("a name"),
        namespace: Namespace::default(),
        options: change.create().expect("options"),
        partitions: vec![PartitionInfo { number: 0, store: "postgres-00".to_owned(), read_only: false }],
        created_at: leasehold_core::Timestamp::EPOCH,
        updated_at: leasehold_core::Timestamp::EPOCH,
    };
    assert!(PostgresQueues::new(pool, &QueuesConfig::default()).add(&record).await.expect("adds"));

    let server = wire::Running::start(wire::config(&url)).await;
    server.produce("theirs", &["a"]).await;
    assert_eq!(server.lease("theirs", "me", 1).await.len(), 1);
}
