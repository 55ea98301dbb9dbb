//! Queues on the embedded store.

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
