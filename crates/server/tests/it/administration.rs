//! What is wrong with namespaces, users, keys, roles and bindings is told in the known words, in order, and changes
//! nothing.

use leasehold_access::Driver;
use serde_json::{Value, json};

use crate::wire::{Running, config};

const LONG: usize = 300;

async fn server() -> (Running, String) {
    let mut config = config("memory:");
    config.auth = Driver::Internal;
    let server = Running::start(config).await;
    server.done("/v1/namespaces.create", json!({"name": "orders"})).await;
    let user = server.done("/v1/users.create", json!({"username": "ann"})).await;
    let user = user["id"].as_str().expect("an id").to_owned();
    let role = json!({"namespace": "orders", "name": "worker", "permissions": ["queue.lease"]});
    server.done("/v1/roles.create", role).await;
    let binding = json!({"namespace": "orders", "role_name": "worker", "user_id": user});
    server.done("/v1/rolebindings.create", binding).await;
    (server, user)
}

/// Everything that administration can change, as it is listed.
async fn everything(server: &Running) -> Vec<Value> {
    let mut listed = Vec::new();
    for path in ["namespaces", "users", "apikeys", "roles", "rolebindings"] {
        for namespace in ["", "orders"] {
            let request = match path.starts_with("role") {
                true => json!({"namespace": namespace}),
                false => json!({}),
            };
            listed.push(server.done(&format!("/v1/{path}.list"), request).await);
        }
    }
    listed
}

async fn refused(server: &Running, cases: Vec<(&str, Value, u16, String)>) {
    let before = everything(server).await;
    for (path, body, code, words) in cases {
        let answer = server.refused(&format!("/v1/{path}"), body.clone()).await;
        assert_eq!(answer, (code, words), "{path} {body:.200}");
    }
    assert_eq!(everything(server).await, before, "nothing changed");
}

#[tokio::test]
async fn mistakes_in_namespaces_are_told_in_the_known_words() {
    let (server, _) = server().await;
    let name = |name: &str| json!({"name": name});
    let invalid = |words: &str| format!("namespace name is invalid; {words}");
    let mut cases = Vec::new();
    for path in ["namespaces.create", "namespaces.update", "namespaces.delete"] {
        cases.extend([
            (path, name(&"n".repeat(257)), 400, invalid("cannot be greater than '256' characters")),
            (path, name(" "), 400, invalid("cannot be empty")),
            (path, name("a b"), 400, invalid("'a b' cannot contain whitespace")),
            (path, name("a~b"), 400, invalid("'a~b' cannot contain '~' character")),
            (path, name("a:b"), 400, invalid("'a:b' cannot contain ':' character")),
        ]);
    }
    let reserved = "namespace name is reserved; '_x' names starting with '_' are reserved".to_owned();
    let absent = "namespace does not exist; 'none' was not found".to_owned();
    let tag = |tag: &str| json!({"name": "new", "api_key_tag": tag});
    cases.extend([
        ("namespaces.create", name("_x"), 400, reserved.clone()),
        ("namespaces.delete", name("_x"), 400, reserved),
        (
            "namespaces.create",
            name("orders"),
            400,
            "namespace already exists; 'orders' already exists".into(),
        ),
        (
            "namespaces.create",
            tag(&"x".repeat(17)),
            400,
            "api_key_tag is invalid; cannot be greater than 16 characters".into(),
        ),
        (
            "namespaces.create",
            tag("Ab"),
            400,
            "api_key_tag is invalid; must be lowercase alphanumeric only".into(),
        ),
        ("namespaces.update", name("none"), 453, absent.clone()),
        ("namespaces.delete", name("none"), 453, absent),
        (
            "namespaces.delete",
            name("orders"),
            400,
            "namespace has role bindings; 'orders' has role bindings, delete role bindings first".into(),
        ),
    ]);
    refused(&server, cases).await;
}

#[tokio::test]
async fn mistakes_in_users_and_keys_are_told_in_the_known_words() {
    let (server, user) = server().await;
    let create = "users.create";
    let absent = "user does not exist; 'none' was not found".to_owned();
    refused(
        &server,
        vec![
            (
                create,
                json!({"username": "u".repeat(129)}),
                400,
                "username is invalid; cannot be greater than '128' characters".into(),
            ),
            (create, json!({}), 400, "username is invalid; cannot be empty".into()),
            (
                create,
                json!({"username": "u", "email": "e".repeat(LONG)}),
                400,
                "email is invalid; cannot be greater than '256' characters".into(),
            ),
            (
                create,
                json!({"username": "u", "external_id": "e".repeat(LONG)}),
                400,
                "external_id is invalid; cannot be greater than '256' characters".into(),
            ),
            (
                create,
                json!({"username": "ann"}),
                400,
                "username is already taken; 'ann' is already taken".into(),
            ),
            ("users.delete", json!({"id": "none"}), 453, absent.clone()),
            ("apikeys.create", json!({}), 400, "user_id is invalid; cannot be empty".into()),
            (
                "apikeys.create",
                json!({"user_id": user, "name": "n".repeat(LONG)}),
                400,
                "name is invalid; cannot be greater than '128' characters".into(),
            ),
            (
                "apikeys.create",
                json!({"user_id": user, "key_tag": "a-b"}),
                400,
                "key_tag is invalid; must be lowercase alphanumeric only".into(),
            ),
            (
                "apikeys.create",
                json!({"user_id": user, "key_tag": "x".repeat(17)}),
                400,
                "key_tag is invalid; cannot be greater than 16 characters".into(),
            ),
            ("apikeys.create", json!({"user_id": "none"}), 453, absent),
            ("apikeys.delete", json!({"id": "none"}), 401, "api key does not exist".into()),
        ],
    )
    .await;
}

#[tokio::test]
async fn mistakes_in_roles_and_bindings_are_told_in_the_known_words() {
    let (server, user) = server().await;
    let role = |namespace: &str, name: &str| json!({"namespace": namespace, "name": name, "permissions": ["queue.list"]});
    let named = |namespace: &str, name: &str| json!({"namespace": namespace, "name": name});
    let unknown = json!({"namespace": "orders", "name": "r", "permissions": ["queue.fly"]});
    let bind = |namespace: &str, role: &str, user: &str| json!({"namespace": namespace, "role_name": role, "user_id": user});
    let no_namespace = "namespace is invalid; cannot be empty".to_owned();
    let no_permission = "permission is invalid; 'queue.fly' is not a recognized permission".to_owned();
    let standard = "cannot modify or delete standard role; 'Admin' is a standard role".to_owned();
    let no_role = "role does not exist; 'orders:none' was not found".to_owned();
    let roles = server.done("/v1/roles.list", json!({"namespace": "orders"})).await;
    let role_id = roles["items"][0]["id"].as_str().expect("an id");
    let (create, update, delete) = ("roles.create", "roles.update", "roles.delete");
    let (bind_create, bind_delete) = ("rolebindings.create", "rolebindings.delete");
    refused(
        &server,
        vec![
            (create, role("", "r"), 400, no_namespace.clone()),
            (create, role("orders", ""), 400, "name is invalid; cannot be empty".into()),
            (create, role("orders", &"r".repeat(129)), 400, "name is invalid; cannot be greater than '128' characters".into()),
            (create, role("orders", "a:b"), 400, "name is invalid; 'a:b' cannot contain ':' character".into()),
            (create, unknown.clone(), 400, no_permission.clone()),
            (create, role("orders", "Admin"), 400, standard.clone()),
            (create, role("none", "r"), 453, "namespace does not exist; 'none' was not found".into()),
            (create, role("orders", "worker"), 400, "role already exists; 'orders:worker' already exists".into()),
            (update, role("", "r"), 400, no_namespace.clone()),
            (update, unknown, 400, no_permission),
            (update, role("orders", "none"), 453, no_role.clone()),
            (update, role("_system", "Admin"), 400, standard.clone()),
            (delete, named("orders", "none"), 453, no_role.clone()),
            (delete, named("", "Admin"), 400, standard),
            (delete, named("orders", "worker"), 400, "role has active bindings; 'worker' has active bindings, delete bindings first".into()),
            (bind_create, bind("", "worker", &user), 400, no_namespace),
            (bind_create, bind("orders", "", &user), 400, "role_name is invalid; cannot be empty".into()),
            (bind_create, bind("orders", "worker", ""), 400, "user_id is invalid; cannot be empty".into()),
            (bind_create, bind("orders", "worker", "a:b"), 400, "user_id is invalid; 'a:b' cannot contain ':' character".into()),
            (bind_create, bind("orders", "none", &user), 453, no_role.clone()),
            (bind_create, bind("orders", "worker", "none"), 453, "user does not exist; 'none' was not found".into()),
            (bind_create, bind("orders", "worker", &user), 400, format!("role binding already exists; binding for user '{user}' to role '{role_id}' in namespace 'orders' already exists")),
            (bind_delete, bind("orders", "worker", "a:b"), 400, "user_id is invalid; 'a:b' cannot contain ':' character".into()),
            (bind_delete, bind("orders", "none", &user), 453, no_role),
            (bind_delete, bind("orders", "worker", "none"), 453, format!("role binding does not exist; 'orders:none:{role_id}' was not found")),
        ],
    )
    .await;
}
