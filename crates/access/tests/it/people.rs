//! Users with keys, roles and bindings, made and asked for through a server.

use leasehold_access::{
    Access, ApiKeyRequest, CreatedApiKey, Error, Permission, Principal, RoleBindingRequest, RoleRequest,
    UserRequest,
};

pub(crate) fn anyone() -> Principal {
    Principal::anonymous()
}

pub(crate) async fn user_with_key(server: &Access, username: &str) -> (String, CreatedApiKey) {
    let request = UserRequest { username: username.to_owned(), ..UserRequest::default() };
    let user_id = server.create_user(&anyone(), &request).await.expect("creates");
    let request = ApiKeyRequest { user_id: user_id.clone(), ..ApiKeyRequest::default() };
    let key = server.create_api_key(&anyone(), &request).await.expect("creates");
    (user_id, key)
}

pub(crate) async fn authenticate(server: &Access, key: &CreatedApiKey) -> Result<Principal, Error> {
    server.authenticate(Some(format!("Bearer {}", key.key.expose()).as_bytes())).await
}

pub(crate) fn is_unknown(answer: &Result<Principal, Error>) -> bool {
    matches!(answer, Err(Error::ApiKeyNotFound))
}

/// Role `worker` of `_system`.
pub(crate) fn worker(permission: Permission) -> RoleRequest {
    RoleRequest {
        namespace: "_system".to_owned(),
        name: "worker".to_owned(),
        permissions: vec![permission.to_string()],
    }
}

/// The user as a worker.
pub(crate) fn as_worker(user_id: String) -> RoleBindingRequest {
    RoleBindingRequest { namespace: "_system".to_owned(), role_name: "worker".to_owned(), user_id }
}
