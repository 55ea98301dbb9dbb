//! Who may do what, over real sockets.

use leasehold_access::Driver;
use prost::Message;
use serde_json::json;

use crate::wire::{Running, config, with_key};

async fn server() -> Running {
    let mut config = config("memory:");
    config.auth = Driver::Internal;
    Running::start(config).await
}

/// A user with a role in a namespace, and its key.
async fn user(server: &Running, name: &str, namespace: &str, permissions: &[&str]) -> String {
    let id = server.done("/v1/users.create", json!({"username": name})).await["id"].clone();
    let role = json!({"namespace": namespace, "name": name, "permissions": permissions});
    server.done("/v1/roles.create", role).await;
    let binding = json!({"namespace": namespace, "role_name": name, "user_id": id});
    server.done("/v1/rolebindings.create", binding).await;
    let key = server.done("/v1/apikeys.create", json!({"user_id": id, "name": "k"})).await;
    key["key"].as_str().expect("a key").to_owned()
}

async fn close_the_door(server: &Running) {
    let binding = json!({"namespace": "_system", "role_name": "Admin", "user_id": "anonymous"});
    server.done("/v1/rolebindings.delete", binding).await;
}

#[tokio::test]
async fn worker_may_do_its_work_and_nothing_else() {
    let server = server().await;
    server.done("/v1/namespaces.create", json!({"name": "orders"})).await;
    let queue = json!({
        "queue_name": "q", "namespace": "orders", "lease_timeout": "1m", "expire_timeout": "1h",
        "requested_partitions": 1,
    });
    server.done("/v1/queues.create", queue).await;
    server.queue("elsewhere").await;
    let key = user(&server, "worker", "orders", &["queue.produce", "queue.lease"]).await;
    close_the_door(&server).await;

    let produce =
        |queue: &str| json!({"queue_name": queue, "request_timeout": "30s", "items": [{"utf8": "x"}]});
    assert_eq!(with_key(&server, &key, "/v1/queue.produce", produce("q")).await.status, 200);
    for (path, body) in [
        ("/v1/queue.produce", produce("elsewhere")),
        ("/v1/queue.produce", produce("not-there")),
        ("/v1/queue.stats", json!({"queue_name": "q"})),
        ("/v1/queues.delete", json!({"queue_name": "q"})),
        ("/v1/queues.list", json!({"namespace": "orders"})),
        ("/v1/users.list", json!({})),
        ("/v1/lock.acquire", json!({"key": "k", "ttlMs": 1000})),
        ("/v1/lock.list", json!({})),
    ] {
        let answer = with_key(&server, &key, path, body.clone()).await;
        assert_eq!((answer.status, answer.message().as_str()), (403, "access denied"), "{path} {body}");
        let answer = server.post(path, body).await;
        assert_eq!(answer.status, 403, "nobody in particular: {path}");
    }
}

#[tokio::test]
async fn bad_credentials_are_told_before_anything_else() {
    let server = server().await;
    for (header, words) in [
        ("Basic x", "invalid authorization header format"),
        ("bearer x", "invalid authorization header format"),
        ("Bearer x", "api key is invalid"),
        ("Bearer qtr-live-0000000000000000000000000000000000000000000", "api key does not exist"),
    ] {
        for path in ["/v1/queue.bogus", "/v1/queue.stats"] {
            let request = http::Request::post("/").header("authorization", header);
            let answer = server.request(request, path, "").await;
            assert_eq!((answer.status, answer.message().as_str()), (401, words), "{header} {path}");
        }
    }
    let health = http::Request::get("/").header("authorization", "Basic x");
    assert_eq!(server.request(health, "/health", "").await.status, 200);
}

#[tokio::test]
async fn deleted_and_expired_keys_are_refused_at_once() {
    let server = server().await;
    let key = user(&server, "u", "_system", &["lock.read"]).await;
    let list = || with_key(&server, &key, "/v1/lock.list", json!({}));
    assert_eq!(list().await.status, 200);
    let listed = server.done("/v1/apikeys.list", json!({})).await;
    assert!(!listed.to_string().contains(&key), "the key is shown once");
    let id = listed["items"][0]["id"].clone();
    server.done("/v1/apikeys.delete", json!({"id": id})).await;
    assert_eq!((list().await.status, list().await.message().as_str()), (401, "api key does not exist"));
    let refused = server.refused("/v1/apikeys.delete", json!({"id": id})).await;
    assert_eq!(refused, (401, "api key does not exist".to_owned()));

    let users = server.done("/v1/users.list", json!({})).await;
    let user = users["items"].as_array().expect("users").iter().find(|user| user["username"] == "u");
    let expired = json!({"user_id": user.expect("there")["id"], "expires_at": "2020-01-01T00:00:00Z"});
    let key = server.done("/v1/apikeys.create", expired).await["key"].as_str().expect("a key").to_owned();
    let answer = with_key(&server, &key, "/v1/lock.list", json!({})).await;
    assert_eq!((answer.status, answer.message().as_str()), (401, "api key has expired"));
}

#[tokio::test]
async fn without_judging_nobody_is_asked_and_namespaces_work() {
    let server = Running::start(config("memory:")).await;
    assert_eq!(server.done("/v1/users.list", json!({})).await, json!({}));
    let listed = server.done("/v1/namespaces.list", json!({})).await;
    assert_eq!(listed["items"][0]["name"], "_system");
    let refused = server.refused("/v1/namespaces.create", json!({"name": "_mine"})).await;
    assert_eq!(
        refused,
        (400, "namespace name is reserved; '_mine' names starting with '_' are reserved".to_owned())
    );
    server.done("/v1/namespaces.create", json!({"name": "orders"})).await;
    let queue = json!({"queue_name": "q", "namespace": "orders", "lease_timeout": "1m", "expire_timeout": "1h", "requested_partitions": 1});
    server.done("/v1/queues.create", queue).await;
    let refused = server.refused("/v1/namespaces.delete", json!({"name": "orders"})).await;
    assert_eq!(refused, (400, "namespace has queues; 'orders' has queues, delete queues first".to_owned()));
}

/// In JSON it is no instant.
#[tokio::test]
async fn end_of_a_key_that_cannot_be_shown_is_refused() {
    use leasehold_api::queue::ApiKeyCreateRequest;
    let server = server().await;
    let id = server.done("/v1/users.create", json!({"username": "u"})).await["id"].clone();
    let create = async |seconds| {
        let request = ApiKeyCreateRequest {
            user_id: id.as_str().expect("an id").to_owned(),
            expires_at: Some(prost_types::Timestamp { seconds, nanos: 0 }),
            ..Default::default()
        };
        let sent = http::Request::post("/").header("content-type", "application/protobuf");
        server.request(sent, "/v1/apikeys.create", request.encode_to_vec()).await
    };
    for seconds in [253_402_300_800, i64::MAX, i64::MIN] {
        let refused = create(seconds).await;
        let words = "expires_at is invalid; it must be from year 1 to year 9999";
        assert_eq!((refused.status, refused.message().as_str()), (400, words));
    }
    assert_eq!(create(253_402_300_799).await.status, 200, "the last second");
    let listed = server.done("/v1/apikeys.list", json!({})).await;
    assert_eq!(listed["items"][0]["expires_at"], "9999-12-31T23:59:59Z");
}
