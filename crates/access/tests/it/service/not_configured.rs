//! A server that was given no store for something says so, before anything else.

use std::sync::Arc;

use leasehold_access::store::memory::MemoryStore;
use leasehold_access::{
    ApiKeyRequest, Driver, NamespaceRequest, Page, Permission, RoleBindingRequest, RoleRequest,
};
use leasehold_access::{Stores, UserRequest};

use super::fixture::{Server, anyone, nobody, over, refusal};
use crate::assert_refused;

/// What each operation says with empty requests.
async fn texts(server: &Server) -> Vec<(&'static str, String)> {
    let (who, page) = (anyone(), Page::default());
    let (namespace, user) = (NamespaceRequest::default(), UserRequest::default());
    let (role, binding) = (RoleRequest::default(), RoleBindingRequest::default());
    let answers = vec![
        ("create_namespace", server.create_namespace(&who, &namespace).await),
        ("update_namespace", server.update_namespace(&who, &namespace).await),
        ("list_namespaces", server.list_namespaces(&who, &page).await.map(drop)),
        ("delete_namespace", server.delete_namespace(&who, "").await),
        ("create_user", server.create_user(&who, &user).await.map(drop)),
        ("list_users", server.list_users(&who, &page).await.map(drop)),
        ("delete_user", server.delete_user(&who, "").await),
        ("create_api_key", server.create_api_key(&who, &ApiKeyRequest::default()).await.map(drop)),
        ("list_api_keys", server.list_api_keys(&who, "", &page).await.map(drop)),
        ("delete_api_key", server.delete_api_key(&who, "").await),
        ("create_role", server.create_role(&who, &role).await.map(drop)),
        ("update_role", server.update_role(&who, &role).await),
        ("list_roles", server.list_roles(&who, "", &page).await.map(drop)),
        ("delete_role", server.delete_role(&who, "", "").await),
        ("create_role_binding", server.create_role_binding(&who, &binding).await.map(drop)),
        ("list_role_bindings", server.list_role_bindings(&who, "", "", &page).await.map(drop)),
        ("delete_role_binding", server.delete_role_binding(&who, &binding).await),
    ];
    let mut texts = Vec::new();
    for (operation, answer) in answers {
        if let Err(error) = &answer
            && error.code() == "access.not_configured"
        {
            texts.push((operation, {
                let (code, text) = refusal(answer);
                assert_eq!(code, 453);
                text
            }));
        }
    }
    texts
}

#[tokio::test]
async fn stores_are_asked_for_in_their_order() {
    let full = || Stores::of(Arc::new(MemoryStore::new()));
    let none = texts(&over(Stores::none(), Driver::None)).await;
    let first = |operation: &str| match operation {
        name if name.ends_with("namespace") || name.ends_with("namespaces") => "namespace",
        "create_role" => "namespace",
        name if name.ends_with("user") || name.ends_with("users") => "user",
        "create_api_key" => "user",
        "list_api_keys" | "delete_api_key" => "api key",
        "list_role_bindings" => "role binding",
        _ => "role",
    };
    assert_eq!(none.len(), 17);
    for (operation, text) in none {
        assert_eq!(text, format!("{} storage not configured", first(operation)), "{operation}");
    }
    for (stores, kind, operations) in [
        (
            Stores { role_bindings: None, ..full() },
            "role binding",
            vec![
                "delete_namespace",
                "delete_user",
                "delete_role",
                "create_role_binding",
                "list_role_bindings",
                "delete_role_binding",
            ],
        ),
        (
            Stores { roles: None, ..full() },
            "role",
            vec![
                "delete_namespace",
                "create_role",
                "update_role",
                "list_roles",
                "delete_role",
                "create_role_binding",
                "delete_role_binding",
            ],
        ),
        (
            Stores { api_keys: None, ..full() },
            "api key",
            vec!["delete_user", "create_api_key", "list_api_keys", "delete_api_key"],
        ),
        (
            Stores { users: None, ..full() },
            "user",
            vec!["create_user", "list_users", "delete_user", "create_api_key", "create_role_binding"],
        ),
    ] {
        let expected: Vec<_> = operations
            .into_iter()
            .map(|operation| (operation, format!("{kind} storage not configured")))
            .collect();
        assert_eq!(texts(&over(stores, Driver::None)).await, expected);
    }
}

#[tokio::test]
async fn judging_without_stores_refuses_and_does_not_crash() {
    let server = over(Stores::none(), Driver::Internal);
    server.bootstrap().await.expect("there is nothing to prepare");
    assert_refused!(
        server.authorise(&nobody(), "", Permission::QueueLease).await,
        453,
        "authorization check failed"
    );
    let key = format!("Bearer qtr-live-{}", "0".repeat(43));
    assert_refused!(server.authenticate(Some(key.as_bytes())).await, 401, "api key is invalid");
}
