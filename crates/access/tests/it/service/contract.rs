//! Every rule of every operation, in its order and in its words.

use leasehold_access::{ANONYMOUS, ApiKeyRequest, NamespaceRequest, Permission, UserRequest};
use leasehold_core::Timestamp;

use super::fixture::{WITH_QUEUES, anyone, binding, namespace, nobody, role, server, user};
use crate::assert_refused;

const DENIED: &str = "access denied";

#[tokio::test]
async fn namespaces_are_created_by_the_rules() {
    let server = server();
    let create = async |name: &str, tag: &str| {
        let request = NamespaceRequest { api_key_tag: tag.to_owned(), ..namespace(name) };
        server.create_namespace(&anyone(), &request).await
    };
    let long = "n".repeat(257);
    for (name, tag, text) in [
        (long.as_str(), "BAD", "namespace name is invalid; cannot be greater than '256' characters"),
        ("", "BAD", "namespace name is invalid; cannot be empty"),
        (" \t", "BAD", "namespace name is invalid; cannot be empty"),
        ("a b", "BAD", "namespace name is invalid; 'a b' cannot contain whitespace"),
        ("a~b", "BAD", "namespace name is invalid; 'a~b' cannot contain '~' character"),
        ("a:b", "BAD", "namespace name is invalid; 'a:b' cannot contain ':' character"),
        ("_a", "BAD", "api_key_tag is invalid; must be lowercase alphanumeric only"),
        ("_a", "abcdefghijklmnopq", "api_key_tag is invalid; cannot be greater than 16 characters"),
        ("_a", "", "namespace name is reserved; '_a' names starting with '_' are reserved"),
        ("_system", "", "namespace name is reserved; '_system' names starting with '_' are reserved"),
    ] {
        assert_refused!(create(name, tag).await, 400, text);
    }
    create("orders", "tag1").await.expect("creates");
    assert_refused!(create("orders", "").await, 400, "namespace already exists; 'orders' already exists");
    create(&"n".repeat(256), "abcdefghijklmnop").await.expect("at the limits");
    // Who may not learns of a bad name, and not of a reserved or taken one.
    let denied = async |name: &str| server.create_namespace(&nobody(), &namespace(name)).await;
    assert_refused!(denied("a b").await, 400, "namespace name is invalid; 'a b' cannot contain whitespace");
    assert_refused!(denied("_a").await, 403, DENIED);
    assert_refused!(denied("orders").await, 403, DENIED);
}

#[tokio::test]
async fn namespaces_are_updated_by_the_rules() {
    let server = server();
    let request = |name: &str, description: &str, tag: &str| NamespaceRequest {
        name: name.to_owned(),
        description: description.to_owned(),
        api_key_tag: tag.to_owned(),
    };
    server.create_namespace(&anyone(), &request("orders", "old", "old")).await.expect("creates");
    let list = async || server.list_namespaces(&anyone(), &Default::default()).await.expect("answers");
    let created_at = list().await[1].created_at;
    server.clock.advance(std::time::Duration::from_secs(60));
    server.update_namespace(&anyone(), &request("orders", "new", "")).await.expect("updates");
    let updated = &list().await[1];
    assert_eq!(
        (updated.description.as_str(), &updated.api_key_tag, updated.created_at),
        ("new", &None, created_at)
    );

    let update =
        async |who, name: &str, tag: &str| server.update_namespace(&who, &request(name, "", tag)).await;
    assert_refused!(update(nobody(), "", "").await, 400, "namespace name is invalid; cannot be empty");
    let text = "api_key_tag is invalid; must be lowercase alphanumeric only";
    assert_refused!(update(nobody(), "other", "A").await, 400, text);
    assert_refused!(update(nobody(), "other", "").await, 403, DENIED);
    assert_refused!(
        update(anyone(), "other", "").await,
        453,
        "namespace does not exist; 'other' was not found"
    );
}

#[tokio::test]
async fn namespaces_are_deleted_by_the_rules() {
    let server = server();
    server.namespace("orders").await;
    server.namespace(WITH_QUEUES).await;
    let ann = server.user("ann").await;
    server.role("orders", "worker", &[Permission::QueueLease]).await;
    server.bind("orders", "worker", &ann).await;
    server.role(WITH_QUEUES, "worker", &[]).await;
    let delete = async |name: &str| server.delete_namespace(&anyone(), name).await;

    assert_refused!(delete("").await, 400, "namespace name is invalid; cannot be empty");
    assert_refused!(server.delete_namespace(&nobody(), "_system").await, 403, DENIED);
    let text = "namespace name is reserved; '_system' names starting with '_' are reserved";
    assert_refused!(delete("_system").await, 400, text);
    let text = "namespace has role bindings; 'orders' has role bindings, delete role bindings first";
    assert_refused!(delete("orders").await, 400, text);
    server.delete_role_binding(&anyone(), &binding("orders", "worker", &ann)).await.expect("unbinds");
    assert_refused!(
        delete("orders").await,
        400,
        "namespace has roles; 'orders' has roles, delete roles first"
    );
    let text = format!("namespace has roles; '{WITH_QUEUES}' has roles, delete roles first");
    assert_refused!(delete(WITH_QUEUES).await, 400, text);
    server.delete_role(&anyone(), WITH_QUEUES, "worker").await.expect("deletes");
    let text = format!("namespace has queues; '{WITH_QUEUES}' has queues, delete queues first");
    assert_refused!(delete(WITH_QUEUES).await, 400, text);
    server.delete_role(&anyone(), "orders", "worker").await.expect("deletes");
    delete("orders").await.expect("deletes");
    assert_refused!(delete("orders").await, 453, "namespace does not exist; 'orders' was not found");
}

#[tokio::test]
async fn users_are_created_by_the_rules() {
    let server = server();
    let request = |username: usize, email: usize, external_id: usize| UserRequest {
        username: "u".repeat(username),
        email: "e".repeat(email),
        external_id: "x".repeat(external_id),
    };
    for (bad, text) in [
        (request(129, 257, 257), "username is invalid; cannot be greater than '128' characters"),
        (request(0, 257, 257), "username is invalid; cannot be empty"),
        (user("  "), "username is invalid; cannot be empty"),
        (request(1, 257, 257), "email is invalid; cannot be greater than '256' characters"),
        (request(1, 256, 257), "external_id is invalid; cannot be greater than '256' characters"),
    ] {
        assert_refused!(server.create_user(&nobody(), &bad).await, 400, text);
    }
    assert_refused!(server.create_user(&nobody(), &user("ann")).await, 403, DENIED);
    let id = server.create_user(&anyone(), &request(128, 256, 256)).await.expect("at the limits");
    assert_eq!(id.len(), 27, "a KSUID");
    server.user("ann").await;
    let text = "username is already taken; 'ann' is already taken";
    assert_refused!(server.create_user(&anyone(), &user("ann")).await, 400, text);
    let text = "username is already taken; 'anonymous' is already taken";
    assert_refused!(server.create_user(&anyone(), &user(ANONYMOUS)).await, 400, text);
}

#[tokio::test]
async fn users_are_deleted_by_the_rules() {
    let server = server();
    let ann = server.user("ann").await;
    assert_refused!(server.delete_user(&nobody(), "who").await, 403, DENIED);
    assert_refused!(
        server.delete_user(&anyone(), "who").await,
        453,
        "user does not exist; 'who' was not found"
    );
    server.delete_user(&anyone(), &ann).await.expect("deletes");
    let text = format!("user does not exist; '{ann}' was not found");
    assert_refused!(server.delete_user(&anyone(), &ann).await, 453, text);
}

#[tokio::test]
async fn keys_are_created_by_the_rules() {
    let server = server();
    let ann = server.user("ann").await;
    let request = |user_id: &str, name: usize, key_tag: &str| ApiKeyRequest {
        user_id: user_id.to_owned(),
        name: "k".repeat(name),
        key_tag: key_tag.to_owned(),
        ..ApiKeyRequest::default()
    };
    for (bad, text) in [
        (request("", 129, "A"), "user_id is invalid; cannot be empty"),
        (request("who", 129, "A"), "name is invalid; cannot be greater than '128' characters"),
        (request("who", 128, "A"), "key_tag is invalid; must be lowercase alphanumeric only"),
        (request("who", 0, "abcdefghijklmnopq"), "key_tag is invalid; cannot be greater than 16 characters"),
    ] {
        assert_refused!(server.create_api_key(&nobody(), &bad).await, 400, text);
    }
    assert_refused!(server.create_api_key(&nobody(), &request("who", 0, "")).await, 403, DENIED);
    let unknown = server.create_api_key(&anyone(), &request("who", 0, "")).await;
    assert_refused!(unknown, 453, "user does not exist; 'who' was not found");

    let past = ApiKeyRequest { expires_at: Some(Timestamp::EPOCH), ..request(&ann, 128, "abcdefghijklmnop") };
    let created = server.create_api_key(&anyone(), &past).await.expect("a past end is accepted");
    assert!(created.key.expose().starts_with("qtr-abcdefghijklmnop-"));
    assert_eq!(created.prefix, created.key.expose()[..created.prefix.len()]);
    assert_eq!(created.prefix.len(), "qtr-abcdefghijklmnop-".len() + 8);
}

#[tokio::test]
async fn tag_of_a_key_comes_from_the_request_or_the_namespace_or_is_live() {
    let server = server();
    let ann = server.user("ann").await;
    let tagged = NamespaceRequest { api_key_tag: "orders".to_owned(), ..namespace("orders") };
    server.create_namespace(&anyone(), &tagged).await.expect("creates");
    server.namespace("bare").await;
    for (key_tag, scope, expected) in [
        ("mine", "orders", "qtr-mine-"),
        ("", "orders", "qtr-orders-"),
        ("", "bare", "qtr-live-"),
        ("", "unknown", "qtr-live-"),
        ("", "not a name", "qtr-live-"),
        ("", "", "qtr-live-"),
    ] {
        let request = ApiKeyRequest {
            user_id: ann.clone(),
            namespace_scope: scope.to_owned(),
            key_tag: key_tag.to_owned(),
            ..ApiKeyRequest::default()
        };
        let created = server.create_api_key(&anyone(), &request).await.expect("creates");
        assert!(created.prefix.starts_with(expected), "{} for {scope}", created.prefix);
    }
}

#[tokio::test]
async fn keys_are_deleted_by_the_rules() {
    let server = server();
    assert_refused!(server.delete_api_key(&nobody(), "who").await, 403, DENIED);
    assert_refused!(server.delete_api_key(&anyone(), "who").await, 401, "api key does not exist");
}

#[tokio::test]
async fn roles_are_created_by_the_rules() {
    let server = server();
    server.namespace("orders").await;
    let bad = |namespace: &str, name: &str, permission: &str| {
        let mut request = role(namespace, name, &[]);
        request.permissions = vec![Permission::QueueLease.to_string(), permission.to_owned()];
        request
    };
    let long = "r".repeat(129);
    for (request, text) in [
        (bad("", "", "x"), "namespace is invalid; cannot be empty"),
        (bad("orders", "", "x"), "name is invalid; cannot be empty"),
        (bad("orders", &format!("{long}:"), "x"), "name is invalid; cannot be greater than '128' characters"),
        (bad("orders", "a:b", "x"), "name is invalid; 'a:b' cannot contain ':' character"),
        (bad("orders", "Admin", "x"), "permission is invalid; 'x' is not a recognized permission"),
        (bad("orders", "Admin", ""), "permission is invalid; '' is not a recognized permission"),
    ] {
        assert_refused!(server.create_role(&nobody(), &request).await, 400, text);
    }
    // Whether the namespace exists or not.
    for name in ["orders", "unknown"] {
        assert_refused!(server.create_role(&nobody(), &role(name, "worker", &[])).await, 403, DENIED);
    }
    for (name, space) in [("Admin", "orders"), ("NamespaceOwner", "unknown"), ("PublicViewer", "_system")] {
        let text = format!("cannot modify or delete standard role; '{name}' is a standard role");
        assert_refused!(server.create_role(&anyone(), &role(space, name, &[])).await, 400, text);
    }
    for name in ["unknown", "a b"] {
        let text = format!("namespace does not exist; '{name}' was not found");
        assert_refused!(server.create_role(&anyone(), &role(name, "worker", &[])).await, 453, text);
    }
    let id = server.role("orders", &"r".repeat(128), &[]).await;
    assert_eq!(id.len(), 27, "a KSUID");
    server.role("orders", "worker", &[Permission::QueueLease]).await;
    let text = "role already exists; 'orders:worker' already exists";
    assert_refused!(server.create_role(&anyone(), &role("orders", "worker", &[])).await, 400, text);
}

#[tokio::test]
async fn permissions_of_a_role_are_kept_in_order_and_once() {
    let server = server();
    let asked =
        [Permission::QueueStats, Permission::ApiKeyList, Permission::QueueStats, Permission::QueueClear];
    server.role("_system", "odd", &asked).await;
    let roles = server.list_roles(&anyone(), "", &Default::default()).await.expect("answers");
    let odd = roles.iter().find(|role| role.name == "odd").expect("is listed");
    assert_eq!(odd.permissions, [Permission::QueueStats, Permission::ApiKeyList, Permission::QueueClear]);
}

#[tokio::test]
async fn roles_are_updated_by_the_rules() {
    let server = server();
    server.namespace("orders").await;
    server.role("orders", "worker", &[Permission::QueueLease]).await;
    let mut bad = role("orders", "other", &[]);
    bad.permissions = vec!["queue.*".to_owned()];
    let update = async |who, request| server.update_role(&who, &request).await;
    assert_refused!(update(nobody(), role("", "", &[])).await, 400, "namespace is invalid; cannot be empty");
    assert_refused!(update(nobody(), role("orders", "", &[])).await, 400, "name is invalid; cannot be empty");
    let text = "permission is invalid; 'queue.*' is not a recognized permission";
    assert_refused!(update(nobody(), bad).await, 400, text);
    assert_refused!(update(nobody(), role("orders", "other", &[])).await, 403, DENIED);
    for name in ["other", "Admin", "a:b"] {
        let text = format!("role does not exist; 'orders:{name}' was not found");
        assert_refused!(update(anyone(), role("orders", name, &[])).await, 453, text);
    }
    let text = "cannot modify or delete standard role; 'Admin' is a standard role";
    assert_refused!(update(anyone(), role("_system", "Admin", &[])).await, 400, text);
    update(anyone(), role("orders", "worker", &[Permission::QueueClear])).await.expect("updates");
    let roles = server.list_roles(&anyone(), "orders", &Default::default()).await.expect("answers");
    assert_eq!(roles[0].permissions, [Permission::QueueClear]);
}

#[tokio::test]
async fn roles_are_deleted_by_the_rules() {
    let server = server();
    let ann = server.user("ann").await;
    server.role("_system", "worker", &[]).await;
    server.bind("_system", "worker", &ann).await;
    let delete = async |who, name: &str| server.delete_role(&who, "", name).await;
    assert_refused!(delete(nobody(), "other").await, 403, DENIED);
    assert_refused!(
        delete(anyone(), "other").await,
        453,
        "role does not exist; '_system:other' was not found"
    );
    let text = "cannot modify or delete standard role; 'Admin' is a standard role";
    assert_refused!(delete(anyone(), "Admin").await, 400, text);
    let text = "role has active bindings; 'worker' has active bindings, delete bindings first";
    assert_refused!(delete(anyone(), "worker").await, 400, text);
    server.delete_role_binding(&anyone(), &binding("", "worker", &ann)).await.expect("unbinds");
    delete(anyone(), "worker").await.expect("deletes");
    assert_refused!(
        delete(anyone(), "worker").await,
        453,
        "role does not exist; '_system:worker' was not found"
    );
}

#[tokio::test]
async fn bindings_are_created_by_the_rules() {
    let server = server();
    server.namespace("orders").await;
    let role_id = server.role("orders", "worker", &[]).await;
    let ann = server.user("ann").await;
    let bind = async |who, namespace: &str, role_name: &str, user_id: &str| {
        server.create_role_binding(&who, &binding(namespace, role_name, user_id)).await
    };
    for (namespace, role_name, user_id, text) in [
        ("", "", "", "namespace is invalid; cannot be empty"),
        ("orders", "", "", "role_name is invalid; cannot be empty"),
        ("orders", "other", "", "user_id is invalid; cannot be empty"),
        ("orders", "other", "a:b", "user_id is invalid; 'a:b' cannot contain ':' character"),
    ] {
        assert_refused!(bind(nobody(), namespace, role_name, user_id).await, 400, text);
    }
    assert_refused!(bind(nobody(), "orders", "other", "who").await, 403, DENIED);
    assert_refused!(bind(nobody(), "unknown", "other", "who").await, 403, DENIED);
    let text = "role does not exist; 'orders:other' was not found";
    assert_refused!(bind(anyone(), "orders", "other", "who").await, 453, text);
    let text = "role does not exist; 'a b:other' was not found";
    assert_refused!(bind(anyone(), "a b", "other", "who").await, 453, text);
    let text = "user does not exist; 'who' was not found";
    assert_refused!(bind(anyone(), "orders", "worker", "who").await, 453, text);
    let id = bind(anyone(), "orders", "worker", &ann).await.expect("binds");
    assert_eq!(id.len(), 27, "a KSUID");
    let text = format!(
        "role binding already exists; binding for user '{ann}' to role '{role_id}' in namespace 'orders' already exists"
    );
    assert_refused!(bind(anyone(), "orders", "worker", &ann).await, 400, text);
}

#[tokio::test]
async fn bindings_are_deleted_by_the_rules() {
    let server = server();
    let role_id = server.role("_system", "worker", &[]).await;
    let unbind = async |who, role_name: &str, user_id: &str| {
        server.delete_role_binding(&who, &binding("", role_name, user_id)).await
    };
    let text = "user_id is invalid; 'a:b' cannot contain ':' character";
    assert_refused!(unbind(nobody(), "other", "a:b").await, 400, text);
    assert_refused!(unbind(nobody(), "other", "who").await, 403, DENIED);
    let text = "role does not exist; '_system:other' was not found";
    assert_refused!(unbind(anyone(), "other", "who").await, 453, text);
    let text = format!("role binding does not exist; '_system:who:{role_id}' was not found");
    assert_refused!(unbind(anyone(), "worker", "who").await, 453, text);
}

#[tokio::test]
async fn lists_are_refused_to_those_who_may_not() {
    let server = server();
    let page = Default::default();
    assert_refused!(server.list_namespaces(&nobody(), &page).await, 403, DENIED);
    assert_refused!(server.list_users(&nobody(), &page).await, 403, DENIED);
    assert_refused!(server.list_api_keys(&nobody(), "", &page).await, 403, DENIED);
    for name in ["", "unknown"] {
        assert_refused!(server.list_roles(&nobody(), name, &page).await, 403, DENIED);
        assert_refused!(server.list_role_bindings(&nobody(), name, "", &page).await, 403, DENIED);
    }
}
