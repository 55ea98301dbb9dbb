//! Queues on the embedded store.

use std::sync::Arc;

use leasehold_embedded::Store;
use leasehold_embedded::faults::Faults;
use leasehold_locks::backend::embedded::EmbeddedBackend;
use leasehold_server::{Config, Server};
use serde_json::json;

use crate::wire::cases::queue_cases;
use crate::wire::{Running, config, restart};

async fn start() -> (Running, tempfile::TempDir) {
    let folder = tempfile::tempdir().expect("a folder");
    let store = folder.path().join("data");
    (Running::start(config(store.to_str().expect("text"))).await, folder)
}

queue_cases!(start);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn queues_locks_and_rights_outlive_the_server() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = folder.path().join("data");
    let config = config(store.to_str().expect("text"));
    restart::queues_locks_and_rights_outlive_the_server(config).await;
}

async fn health(server: &Running) -> u16 {
    server.request(http::Request::get("/"), "/health", "").await.status
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn deleted_file_fails_health_and_writes_and_is_not_created_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let config = config(folder.path().to_str().expect("text"));
    let server = Running::start(config.clone()).await;
    server.queue("orders").await;
    let acquire = json!({"key": "billing", "ttlMs": 600_000});
    assert_eq!(server.done("/v1/lock.acquire", acquire.clone()).await["ok"], true);
    assert_eq!(health(&server).await, 200);
    std::fs::remove_file(folder.path().join("leasehold.redb")).expect("removes");
    assert_eq!(health(&server).await, 503);
    server.refused("/v1/lock.acquire", json!({"key": "other", "ttlMs": 600_000})).await;
    let items = json!([{"utf8": "lost"}]);
    let produce = json!({"queue_name": "orders", "request_timeout": "50ms", "items": items});
    server.refused("/v1/queue.produce", produce).await;
    server.stopped().await;
    let refused = Server::bind(&config).await.err().expect("no new store takes its place");
    assert_eq!(refused.code(), "embedded.missing");
}

#[tokio::test]
async fn folder_that_must_hold_a_store_gets_none() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = folder.path().join("data");
    let must_exist = Config { must_exist: true, ..config(store.to_str().expect("text")) };
    let refused = Server::bind(&must_exist).await.err().expect("there is no store");
    assert_eq!(refused.code(), "embedded.absent");
    let locks = store.to_str().expect("text").parse().expect("a backend");
    let mut locks_alone = Config { must_exist: true, ..config("memory:") };
    locks_alone.locks.backend = Some(locks);
    Server::bind(&locks_alone).await.err().expect("there is no store");
    assert!(!store.exists());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn grant_that_was_answered_on_a_failing_disk_is_kept_over_a_power_loss() {
    let (folder, faults) = (tempfile::tempdir().expect("a folder"), Faults::none());
    let start = || async {
        let store = Store::open_with_faults(folder.path(), &faults).expect("opens");
        let locks = Arc::new(EmbeddedBackend::open(store).expect("opens"));
        Running::of(Server::bind_with_locks(&config("memory:"), locks).await.expect("the server starts"))
    };
    let server = start().await;
    let acquire = json!({"key": "billing", "ttlMs": 600_000, "lockId": "AAAAAAAAAAAAAAAAAAAAAA"});
    faults.fail_next_sync();
    let mut answer = server.post("/v1/lock.acquire", acquire.clone()).await;
    if answer.status != 200 {
        answer = server.post("/v1/lock.acquire", acquire.clone()).await;
    }
    let granted = answer.json();
    assert_eq!(granted["ok"], true, "{granted}");
    faults.lose_power();
    server.stopped().await;
    let server = start().await;
    let found = server.done("/v1/lock.lookup", json!({"key": "billing"})).await;
    assert!(
        found.to_string().contains(granted["fence"].as_str().expect("a fence")),
        "{found} after {granted}"
    );
    server.stopped().await;
}
