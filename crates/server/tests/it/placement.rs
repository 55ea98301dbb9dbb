//! Partitions whose place the configuration file chooses.

use std::path::Path;
use std::time::Duration;

use leasehold_server::{Config, ConfigFile};
use serde_json::{Value, json};

use crate::wire::Running;

/// Both partitions on disk, and one that takes nothing new; the other place forgets everything.
fn file(folder: &Path) -> Config {
    let folder = folder.display();
    let text = format!(
        "address: 127.0.0.1:0\nstore: \"memory:\"\nqueue-storage:\n  driver: badger\n  config:\n    \
         storage-dir: {folder}/records\npartition-storage:\n  - name: forgetful\n    driver: memory\n  \
         - name: disk\n    driver: badger\n    config:\n      storage-dir: {folder}/items\nqueues:\n  - name: q\n    \
         lease-timeout: 1m\n    expire-timeout: 1h\n    requested-partitions: 2\n    partitions:\n      \
         - partition: 0\n        storage-name: disk\n      \
         - partition: 1\n        read-only: true\n        storage-name: disk\n"
    );
    ConfigFile::parse(&text).expect("is a file").config().expect("is valid")
}

/// The queue is made beside the first requests.
async fn partitions(server: &Running) -> Vec<Value> {
    let found = async {
        loop {
            let stats = server.post("/v1/queue.stats", json!({"queue_name": "q"})).await;
            if stats.status == 200 {
                let stats = stats.json();
                return stats["logicalQueues"][0]["partitions"].as_array().expect("partitions").clone();
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), found).await.expect("the queue is made")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn items_are_where_the_file_puts_them_and_outlive_the_server() {
    let folder = tempfile::tempdir().expect("a folder");
    let server = Running::start(file(folder.path())).await;
    assert_eq!(partitions(&server).await.len(), 2);
    let payloads = ["a", "b", "c", "d"];
    for payload in payloads {
        server.produce("q", &[payload]).await;
    }
    let totals: Vec<_> = partitions(&server).await.iter().map(|one| one["total"].clone()).collect();
    assert_eq!(totals, [json!(4), Value::Null], "the other takes nothing new");
    let import = json!({"queue_name": "q", "partition": 1, "items": [{"payload": "ZQ=="}]});
    server.done("/v1/storage/items.import", import).await;
    server.stopped().await;

    let server = Running::start(file(folder.path())).await;
    let mut left = server.lease("q", "me", 10).await;
    left.extend(server.lease("q", "me", 10).await);
    assert_eq!(
        left.len(),
        5,
        "nothing was forgotten, and what takes nothing new gives what it has: {left:?}"
    );
}
