//! Which endpoint asks for which permission, and where.

use std::collections::BTreeMap;
use std::time::Duration;

use leasehold_access::{Driver, Permission};
use leasehold_api::ENDPOINTS;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::wire::{Running, config, with_key};

/// The permission that each endpoint asks for, and a request that gets as far as that.
fn asked_for(path: &str) -> (Permission, Value) {
    use Permission::*;
    let name = || json!({"queue_name": "q"});
    // Without permissions: what a role allows, its creator must have too.
    let role = || json!({"namespace": "orders", "name": "r", "permissions": []});
    let binding = || json!({"namespace": "orders", "role_name": "r", "user_id": "u"});
    match path {
        "/v1/queue.produce" => (QueueProduce, name()),
        "/v1/queue.lease" => (QueueLease, name()),
        "/v1/queue.complete" => (QueueComplete, name()),
        "/v1/queue.retry" => (QueueRetry, name()),
        // Whoever may hold items may hold them longer.
        "/v1/queue.extend" => (QueueLease, name()),
        "/v1/queue.stats" => (QueueStats, name()),
        "/v1/queue.clear" => (QueueClear, name()),
        "/v1/queue.reload" => (QueueUpdate, name()),
        "/v1/queues.create" => (QueueCreate, json!({"queue_name": "new", "namespace": "orders"})),
        "/v1/queues.list" => (QueueList, json!({"namespace": "orders"})),
        "/v1/queues.update" => (QueueUpdate, name()),
        "/v1/queues.delete" => (QueueDelete, json!({"queue_name": "q"})),
        "/v1/queues.info" | "/v1/storage/items.list" | "/v1/storage/scheduled.list" => (QueueStats, name()),
        "/v1/storage/items.import" => (QueueProduce, name()),
        "/v1/storage/items.delete" => (QueueClear, name()),
        "/v1/lock.acquire" => (LockHold, json!({"key": "k"})),
        "/v1/lock.extend" | "/v1/lock.release" => (LockHold, json!({"lockId": "x"})),
        "/v1/lock.isLocked" | "/v1/lock.lookup" | "/v1/lock.watch" => (LockRead, json!({"key": "k"})),
        "/v1/lock.list" => (LockRead, json!({})),
        "/v1/namespaces.create" => (NamespaceCreate, json!({"name": "new"})),
        "/v1/namespaces.update" => (NamespaceUpdate, json!({"name": "none"})),
        "/v1/namespaces.list" => (NamespaceList, json!({})),
        "/v1/namespaces.delete" => (NamespaceDelete, json!({"name": "none"})),
        "/v1/users.create" => (UserCreate, json!({"username": "new"})),
        "/v1/users.list" => (UserList, json!({})),
        "/v1/users.delete" => (UserDelete, json!({"id": "none"})),
        "/v1/apikeys.create" => (ApiKeyCreate, json!({"user_id": "none"})),
        "/v1/apikeys.list" => (ApiKeyList, json!({})),
        "/v1/apikeys.delete" => (ApiKeyDelete, json!({"id": "none"})),
        "/v1/roles.create" => (RoleCreate, role()),
        "/v1/roles.update" => (RoleUpdate, role()),
        "/v1/roles.list" => (RoleList, json!({"namespace": "orders"})),
        "/v1/roles.delete" => (RoleDelete, json!({"namespace": "orders", "name": "r"})),
        "/v1/rolebindings.create" => (RoleBindingCreate, binding()),
        "/v1/rolebindings.list" => (RoleBindingList, json!({"namespace": "orders"})),
        "/v1/rolebindings.delete" => (RoleBindingDelete, binding()),
        other => panic!("{other} is not in this table"),
    }
}

/// What concerns one namespace; the rest is the whole server's.
fn is_of_a_namespace(path: &str) -> bool {
    ["/v1/queue", "/v1/storage/", "/v1/role"].iter().any(|noun| path.starts_with(noun))
}

/// A user with these permissions in a namespace, and a key of its own with a scope.
async fn key(server: &Running, name: &str, namespace: &str, permissions: &[&str], scope: &str) -> String {
    let id = server.done("/v1/users.create", json!({"username": name})).await["id"].clone();
    let role = json!({"namespace": namespace, "name": name, "permissions": permissions});
    server.done("/v1/roles.create", role).await;
    let binding = json!({"namespace": namespace, "role_name": name, "user_id": id});
    server.done("/v1/rolebindings.create", binding).await;
    let key = server.done("/v1/apikeys.create", json!({"user_id": id, "namespace_scope": scope})).await;
    key["key"].as_str().expect("a key").to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_endpoint_asks_for_its_permission_where_it_applies() {
    let mut config = config("memory:");
    config.auth = Driver::Internal;
    let server = Running::start(config).await;
    for namespace in ["orders", "other"] {
        server.done("/v1/namespaces.create", json!({"name": namespace})).await;
    }
    let queue = json!({
        "queue_name": "q", "namespace": "orders", "lease_timeout": "1m", "expire_timeout": "1h",
        "requested_partitions": 1,
    });
    server.done("/v1/queues.create", queue).await;
    let (mut only, mut others) = (BTreeMap::new(), BTreeMap::new());
    for permission in Permission::ALL {
        let name = permission.as_str();
        let rest: Vec<&str> = Permission::ALL
            .iter()
            .filter(|other| **other != permission)
            .map(|other| other.as_str())
            .collect();
        let in_orders = key(&server, &format!("{name} in orders"), "orders", &[name], "").await;
        let in_system = key(&server, &format!("{name} in all"), "_system", &[name], "").await;
        let scoped = key(&server, &format!("{name} elsewhere"), "_system", &[name], "other").await;
        only.insert(permission, (in_orders, in_system, scoped));
        others.insert(permission, key(&server, &format!("all but {name}"), "_system", &rest, "").await);
    }
    close_the_door(&server).await;

    // Queues go last: after that there is none to ask about.
    let (last, first): (Vec<_>, Vec<_>) =
        ENDPOINTS.iter().map(|endpoint| endpoint.path).partition(|path| *path == "/v1/queues.delete");
    for path in first.into_iter().chain(last) {
        let (permission, body) = asked_for(path);
        let denied = async |key: &str| {
            let answer = with_key(&server, key, path, body.clone()).await;
            // A key to delete that does not exist is told so, too.
            assert!(answer.status != 401 || path == "/v1/apikeys.delete", "{path}: {answer:?}");
            (answer.status == 403).then(|| assert_eq!(answer.message(), "access denied")).is_some()
        };
        let (in_orders, in_system, scoped) = &only[&permission];
        assert!(denied(&others[&permission]).await, "{path} with all but {permission}");
        assert_eq!(server.post(path, body.clone()).await.status, 403, "{path} as nobody in particular");
        // A key for another namespace is good there only, whatever its user may do elsewhere.
        assert!(denied(scoped).await, "{path} with a key for another namespace");
        assert_eq!(denied(in_orders).await, !is_of_a_namespace(path), "{path} with {permission} in orders");
        if path != "/v1/queues.delete" {
            assert!(!denied(in_system).await, "{path} with {permission} everywhere");
        }
    }
}

/// Takes its rights from the anonymous user, which leaves another administrator.
async fn close_the_door(server: &Running) {
    let root = server.done("/v1/users.create", json!({"username": "root"})).await["id"].clone();
    let binding = json!({"namespace": "_system", "role_name": "Admin", "user_id": root});
    server.done("/v1/rolebindings.create", binding).await;
    server.done("/v1/apikeys.create", json!({"user_id": root})).await;
    let binding = json!({"namespace": "_system", "role_name": "Admin", "user_id": "anonymous"});
    server.done("/v1/rolebindings.delete", binding).await;
}

/// What it would send is not waited for.
#[tokio::test]
async fn request_of_one_who_may_do_nothing_is_refused_before_its_body_is_read() {
    let mut config = config("memory:");
    config.auth = Driver::Internal;
    let server = Running::start(config).await;
    let bound = key(&server, "bound", "_system", &[], "").await;
    let id = server.done("/v1/users.create", json!({"username": "unbound"})).await["id"].clone();
    let unbound = server.done("/v1/apikeys.create", json!({"user_id": id})).await["key"].clone();
    let unbound = unbound.as_str().expect("a key");
    close_the_door(&server).await;
    for path in ENDPOINTS.iter().map(|endpoint| endpoint.path) {
        for authorization in [String::new(), format!("Authorization: Bearer {unbound}\r\n")] {
            let mut stream = TcpStream::connect(server.address).await.expect("connects");
            let head = format!(
                "POST {path} HTTP/1.1\r\nHost: localhost\r\n{authorization}Content-Length: 4000000\r\n\r\n"
            );
            stream.write_all(head.as_bytes()).await.expect("sends");
            let mut status = [0; 12];
            let answered = timeout(Duration::from_secs(20), stream.read_exact(&mut status)).await;
            answered.expect("before the body comes").expect("answers");
            assert_eq!(&status, b"HTTP/1.1 403", "{path}");
        }
        let refused = with_key(&server, unbound, path, json!("not read")).await;
        assert_eq!((refused.status, refused.message().as_str()), (403, "access denied"), "{path}");
    }
    // A caller with any role still gets the first mistake of the request.
    let told = with_key(&server, &bound, "/v1/queues.create", json!("no object")).await;
    assert_eq!(told.status, 455, "{told:?}");
}
