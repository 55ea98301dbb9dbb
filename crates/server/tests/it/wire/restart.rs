//! What a server must have after it was stopped and started again.

use std::time::Duration;

use leasehold_access::Driver;
use leasehold_server::Config;
use serde_json::{Value, json};

use super::{Running, with_key};

/// The tables are made beside the first requests.
async fn acquired(server: &Running, key: &str) -> Value {
    let acquire = async {
        loop {
            let request = json!({"key": key, "ttlMs": 600_000});
            let answer = server.post("/v1/lock.acquire", request).await;
            if answer.status == 200 {
                return answer.json();
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), acquire).await.expect("in time")
}

pub(crate) async fn queues_locks_and_rights_outlive_the_server(mut config: Config) {
    config.auth = Driver::Internal;
    let server = Running::start(config.clone()).await;
    let user = server.done("/v1/users.create", json!({"username": "ann"})).await;
    let user = user["id"].as_str().expect("an id").to_owned();
    let admin = json!({"namespace": "_system", "role_name": "Admin", "user_id": user});
    server.done("/v1/rolebindings.create", admin).await;
    let key = server.done("/v1/apikeys.create", json!({"user_id": user, "name": "laptop"})).await;
    let key = key["key"].as_str().expect("a key").to_owned();
    server.queue("orders").await;
    server.produce("orders", &["a", "b"]).await;
    let first = acquired(&server, "billing").await;
    assert_eq!(first["fence"], "000000000000001", "{first}");
    let door = json!({"namespace": "_system", "role_name": "Admin", "user_id": "anonymous"});
    let closed = with_key(&server, &key, "/v1/rolebindings.delete", door).await;
    assert_eq!(closed.status, 200, "{closed:?}");
    let produce = json!({"queue_name": "orders", "request_timeout": "5s", "items": [{"utf8": "c"}]});
    assert_eq!(server.refused("/v1/queue.produce", produce.clone()).await.0, 403, "the door is closed");
    server.stopped().await;

    let server = Running::start(config).await;
    assert_eq!(server.refused("/v1/queue.produce", produce.clone()).await.0, 403, "and stays so");
    let produced = with_key(&server, &key, "/v1/queue.produce", produce).await;
    assert_eq!(produced.status, 200, "{produced:?}");
    let lease = json!({"queue_name": "orders", "client_id": "me", "batch_size": 9, "request_timeout": "5s"});
    let leased = with_key(&server, &key, "/v1/queue.lease", lease).await.json();
    let payloads: Vec<_> =
        leased["items"].as_array().expect("items").iter().map(|item| &item["bytes"]).collect();
    assert_eq!(payloads, ["YQ==", "Yg==", "Yw=="], "a, b and c: {leased}");
    let held = with_key(&server, &key, "/v1/lock.acquire", json!({"key": "billing", "ttlMs": 1_000})).await;
    assert_eq!(held.json(), json!({"ok": false, "reason": "locked"}), "held over the restart");
}
