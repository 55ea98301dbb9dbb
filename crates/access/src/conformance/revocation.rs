//! What is taken away is gone at once on the server that took it away, whatever was remembered.

use super::Store;
use crate::{
    Access, ApiKeyRequest, CreatedApiKey, Error, NamespaceRequest, Permission, Principal, RoleBindingRequest,
    RoleRequest, UserRequest,
};

fn anyone() -> Principal {
    Principal::anonymous()
}

async fn user(server: &Access, username: &str) -> String {
    let request = UserRequest { username: username.to_owned(), ..UserRequest::default() };
    server.create_user(&anyone(), &request).await.expect("creates")
}

async fn key(server: &Access, user_id: &str) -> CreatedApiKey {
    let request = ApiKeyRequest { user_id: user_id.to_owned(), ..ApiKeyRequest::default() };
    server.create_api_key(&anyone(), &request).await.expect("creates")
}

async fn authenticate(server: &Access, key: &CreatedApiKey) -> Result<Principal, Error> {
    server.authenticate(Some(format!("Bearer {}", key.key.expose()).as_bytes())).await
}

/// And only that one.
pub async fn deleted_key_is_refused_at_once(store: &Store) {
    let server = store.server().await;
    let user_id = user(&server, "ann").await;
    let (gone, stays) = (key(&server, &user_id).await, key(&server, &user_id).await);
    for key in [&gone, &stays] {
        assert_eq!(authenticate(&server, key).await.expect("is valid").user_id(), user_id);
    }
    server.delete_api_key(&anyone(), &gone.id).await.expect("deletes");
    let refused = authenticate(&server, &gone).await.expect_err("is gone");
    assert_eq!((refused.reply_code(), refused.to_string().as_str()), (401, "api key does not exist"));
    authenticate(&server, &stays).await.expect("is valid");
    let again = server.delete_api_key(&anyone(), &gone.id).await.expect_err("is gone");
    assert_eq!((again.reply_code(), again.to_string().as_str()), (401, "api key does not exist"));
}

/// With the user itself.
pub async fn keys_of_a_deleted_user_are_refused_at_once(store: &Store) {
    let server = store.server().await;
    let (gone, stays) = (user(&server, "ann").await, user(&server, "bob").await);
    let (of_gone, of_stays) = (key(&server, &gone).await, key(&server, &stays).await);
    authenticate(&server, &of_gone).await.expect("is valid");
    authenticate(&server, &of_stays).await.expect("is valid");
    server.delete_user(&anyone(), &gone).await.expect("deletes");
    assert_eq!(authenticate(&server, &of_gone).await.expect_err("is gone").reply_code(), 401);
    authenticate(&server, &of_stays).await.expect("is valid");
}

/// When a role is bound, changed, and unbound.
pub async fn permissions_change_at_once(store: &Store) {
    let server = store.server().await;
    let named = NamespaceRequest { name: "orders".to_owned(), ..NamespaceRequest::default() };
    server.create_namespace(&anyone(), &named).await.expect("creates");
    let ann = Principal::user(user(&server, "ann").await, None);
    let may = async |permission| server.authorise(&ann, "orders", permission).await.is_ok();
    let role = |permission: Permission| RoleRequest {
        namespace: "orders".to_owned(),
        name: "worker".to_owned(),
        permissions: vec![permission.to_string()],
    };
    server.create_role(&anyone(), &role(Permission::QueueLease)).await.expect("creates");
    assert!(!may(Permission::QueueLease).await);
    let binding = RoleBindingRequest {
        namespace: "orders".to_owned(),
        role_name: "worker".to_owned(),
        user_id: ann.user_id().to_owned(),
    };
    server.create_role_binding(&anyone(), &binding).await.expect("binds");
    assert!(may(Permission::QueueLease).await && !may(Permission::QueueProduce).await);
    server.update_role(&anyone(), &role(Permission::QueueProduce)).await.expect("updates");
    assert!(!may(Permission::QueueLease).await && may(Permission::QueueProduce).await);
    server.delete_role_binding(&anyone(), &binding).await.expect("unbinds");
    assert!(!may(Permission::QueueProduce).await);
}

/// Once it was looked up.
pub async fn last_use_is_noted(store: &Store) {
    let server = store.server().await;
    let user_id = user(&server, "ann").await;
    let used = key(&server, &user_id).await;
    authenticate(&server, &used).await.expect("is valid");
    server.close().await;
    let listed = store.api_keys().list(None, "", 9).await.expect("answers");
    assert_eq!(listed[0].last_used_at, Some(leasehold_core::Clock::now(&store.clock)));
}
