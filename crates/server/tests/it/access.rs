//! Who may do what, over real sockets.

use leasehold_access::Driver;
use prost::Message;
use serde_json::{Value, json};

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

/// An administrator's key; requests without a key may do nothing from here on.
async fn close_the_door(server: &Running) -> String {
    let root = administrator(server, "root").await.1;
    let binding = json!({"namespace": "_system", "role_name": "Admin", "user_id": "anonymous"});
    server.done("/v1/rolebindings.delete", binding).await;
    root
}

/// The id and the key of one that may do everything.
async fn administrator(server: &Running, name: &str) -> (String, String) {
    let id = server.done("/v1/users.create", json!({"username": name})).await["id"].clone();
    let binding = json!({"namespace": "_system", "role_name": "Admin", "user_id": id});
    server.done("/v1/rolebindings.create", binding).await;
    let key = server.done("/v1/apikeys.create", json!({"user_id": id, "name": "k"})).await;
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    (text(&id), text(&key["key"]))
}

async fn status(server: &Running, key: &str, path: &str, body: Value) -> u16 {
    with_key(server, key, path, body).await.status
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

#[tokio::test]
async fn rights_make_no_more_rights() {
    let server = server().await;
    server.done("/v1/namespaces.create", json!({"name": "orders"})).await;
    let (root, _) = administrator(&server, "ann").await;
    let owner = server.done("/v1/users.create", json!({"username": "owner"})).await["id"].clone();
    let binding =
        |role: &str, user: &Value| json!({"namespace": "_system", "role_name": role, "user_id": user});
    server.done("/v1/rolebindings.create", binding("NamespaceOwner", &owner)).await;
    let created = server.done("/v1/apikeys.create", json!({"user_id": owner})).await;
    let owner_key = created["key"].as_str().expect("a key").to_owned();
    let issuer = user(&server, "issuer", "_system", &["apikey.create", "queue.lease"]).await;
    let in_orders = json!({"user_id": owner, "namespace_scope": "orders"});
    let scoped =
        server.done("/v1/apikeys.create", in_orders).await["key"].as_str().expect("a key").to_owned();
    close_the_door(&server).await;

    let role = |name: &str, permissions: &[&str]| json!({"namespace": "_system", "name": name, "permissions": permissions});
    for (key, path, body, expected) in [
        (&owner_key, "/v1/rolebindings.create", binding("Admin", &owner), 403),
        (&owner_key, "/v1/roles.create", role("r", &["user.create"]), 403),
        (&owner_key, "/v1/roles.create", role("r", &["queue.lease"]), 200),
        (&owner_key, "/v1/roles.update", role("r", &["queue.lease", "apikey.create"]), 403),
        (&owner_key, "/v1/roles.update", role("r", &["queue.clear"]), 200),
        (&owner_key, "/v1/rolebindings.create", binding("r", &owner), 200),
        (&issuer, "/v1/apikeys.create", json!({"user_id": root}), 403),
        (&issuer, "/v1/apikeys.create", json!({"user_id": owner, "namespace_scope": "orders"}), 403),
        (&scoped, "/v1/queues.list", json!({"namespace": "orders"}), 200),
        (&scoped, "/v1/queues.list", json!({}), 403),
        (&scoped, "/v1/roles.list", json!({"namespace": "_system"}), 403),
        (&scoped, "/v1/roles.create", role("s", &["queue.lease"]), 403),
    ] {
        let answer = with_key(&server, key, path, body.clone()).await;
        assert_eq!(answer.status, expected, "{path} {body}: {answer:?}");
        if expected == 403 {
            assert_eq!(answer.message(), "access denied");
        }
    }
}

#[tokio::test]
async fn last_administrator_cannot_be_removed() {
    let server = server().await;
    let door = || json!({"namespace": "_system", "role_name": "Admin", "user_id": "anonymous"});
    let words = "cannot remove the last administrator; first give another user role 'Admin' in '_system' and a key \
                 without scope";
    let refused = server.refused("/v1/rolebindings.delete", door()).await;
    assert_eq!(refused, (400, words.to_owned()), "no other user could open it again");
    assert_eq!(server.refused("/v1/users.delete", json!({"id": "anonymous"})).await.0, 400);

    let (root, key) = administrator(&server, "root").await;
    assert_eq!(status(&server, &key, "/v1/rolebindings.delete", door()).await, 200);
    let keys = with_key(&server, &key, "/v1/apikeys.list", json!({})).await.json();
    let binding = json!({"namespace": "_system", "role_name": "Admin", "user_id": root});
    for (path, body) in [
        ("/v1/rolebindings.delete", binding.clone()),
        ("/v1/users.delete", json!({"id": root})),
        ("/v1/apikeys.delete", json!({"id": keys["items"][0]["id"]})),
    ] {
        let answer = with_key(&server, &key, path, body).await;
        assert_eq!((answer.status, answer.message().as_str()), (400, words), "{path}");
    }
    let other = with_key(&server, &key, "/v1/apikeys.create", json!({"user_id": root})).await;
    assert_eq!(other.status, 200, "{other:?}");
    assert_eq!(status(&server, &key, "/v1/apikeys.delete", json!({"id": keys["items"][0]["id"]})).await, 200);
}

fn dying(name: &str, namespace: &str, dead_queue: &str) -> Value {
    json!({
        "queue_name": name, "namespace": namespace, "dead_queue": dead_queue, "lease_timeout": "1m",
        "expire_timeout": "1h", "requested_partitions": 1,
    })
}

/// Leases an item and declares it dead.
async fn bury_one(server: &Running, key: &str, queue: &str) {
    let items = json!({"queue_name": queue, "request_timeout": "5s", "items": [{"utf8": "x"}]});
    assert_eq!(status(server, key, "/v1/queue.produce", items).await, 200);
    let lease = json!({"queue_name": queue, "client_id": "c", "batch_size": 1, "request_timeout": "5s"});
    let leased = with_key(server, key, "/v1/queue.lease", lease).await.json();
    let dead = json!({"queue_name": queue, "items": [{"id": leased["items"][0]["id"], "dead": true}]});
    assert_eq!(status(server, key, "/v1/queue.retry", dead).await, 200);
}

async fn leased_from(server: &Running, key: &str, queue: &str) -> usize {
    let lease = json!({"queue_name": queue, "client_id": "c", "batch_size": 9, "request_timeout": "20s"});
    let leased = with_key(server, key, "/v1/queue.lease", lease).await.json();
    leased["items"].as_array().map_or(0, Vec::len)
}

#[tokio::test]
async fn dead_queue_is_of_the_namespace_or_one_that_its_namer_may_produce_to() {
    let server = server().await;
    for namespace in ["mine", "theirs"] {
        server.done("/v1/namespaces.create", json!({"name": namespace})).await;
    }
    server.done("/v1/queues.create", dying("own-dead", "mine", "")).await;
    server.done("/v1/queues.create", dying("their-dead", "theirs", "")).await;
    let permissions =
        ["queue.create", "queue.update", "queue.delete", "queue.produce", "queue.lease", "queue.retry"];
    let tenant = user(&server, "tenant", "mine", &permissions).await;
    let root = close_the_door(&server).await;
    let create = async |key: &str, name: &str, dead: &str| {
        status(&server, key, "/v1/queues.create", dying(name, "mine", dead)).await
    };
    let update = async |key: &str, name: &str, dead: &str| {
        status(&server, key, "/v1/queues.update", json!({"queue_name": name, "dead_queue": dead})).await
    };
    assert_eq!(create(&tenant, "a", "their-dead").await, 403);
    assert_eq!(create(&tenant, "a", "none").await, 400, "as for everybody");
    assert_eq!(create(&tenant, "a", "own-dead").await, 200);
    assert_eq!(update(&tenant, "a", "their-dead").await, 403);
    bury_one(&server, &tenant, "a").await;
    assert_eq!(leased_from(&server, &root, "own-dead").await, 1);

    // Named by one who may, it is the dead queue of this queue, and its owner may go on with it.
    assert_eq!(update(&root, "a", "their-dead").await, 200);
    assert_eq!(update(&tenant, "a", "their-dead").await, 200);
    bury_one(&server, &tenant, "a").await;
    assert_eq!(leased_from(&server, &root, "their-dead").await, 1);
    // Not of another queue of the same name.
    assert_eq!(status(&server, &tenant, "/v1/queues.delete", json!({"queue_name": "a"})).await, 200);
    assert_eq!(create(&tenant, "a", "their-dead").await, 403);
    // Nor once it was let go.
    assert_eq!(create(&root, "a", "their-dead").await, 200);
    assert_eq!(update(&root, "a", "").await, 200);
    assert_eq!(update(&tenant, "a", "their-dead").await, 403);
}

#[tokio::test]
async fn permitted_dead_queue_that_is_created_again_gets_nothing() {
    let server = server().await;
    for namespace in ["mine", "theirs"] {
        server.done("/v1/namespaces.create", json!({"name": namespace})).await;
    }
    server.done("/v1/queues.create", dying("dead", "theirs", "")).await;
    server.done("/v1/queues.create", dying("a", "mine", "dead")).await;
    let root = close_the_door(&server).await;
    bury_one(&server, &root, "a").await;
    assert_eq!(leased_from(&server, &root, "dead").await, 1);

    assert_eq!(status(&server, &root, "/v1/queues.delete", json!({"queue_name": "dead"})).await, 200);
    assert_eq!(status(&server, &root, "/v1/queues.create", dying("dead", "theirs", "")).await, 200);
    bury_one(&server, &root, "a").await;
    let lease = json!({"queue_name": "dead", "client_id": "c", "batch_size": 1, "request_timeout": "200ms"});
    assert_eq!(status(&server, &root, "/v1/queue.lease", lease).await, 454, "nothing arrives");
    // Named again, it gets what waits.
    let named = json!({"queue_name": "a", "dead_queue": "dead"});
    assert_eq!(status(&server, &root, "/v1/queues.update", named).await, 200);
    assert_eq!(leased_from(&server, &root, "dead").await, 1);
}
