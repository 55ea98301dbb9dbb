use leasehold_access::{Principal, UserRequest};
use leasehold_api::queue::{
    User, UserCreateRequest, UserCreateResponse, UsersDeleteRequest, UsersListRequest, UsersListResponse,
};

use super::super::operation::{DONE, Done};
use super::super::wire::timestamp;
use super::page;
use crate::reply::Reply;
use crate::services::Services;

/// `POST /v1/users.create`
pub(super) async fn create(
    services: Services,
    caller: Principal,
    request: UserCreateRequest,
) -> Result<UserCreateResponse, Reply> {
    let UserCreateRequest { username, email, external_id } = request;
    let id = services.access.create_user(&caller, &UserRequest { username, email, external_id }).await?;
    Ok(UserCreateResponse { id })
}

/// `POST /v1/users.list`
pub(super) async fn list(
    services: Services,
    caller: Principal,
    request: UsersListRequest,
) -> Result<UsersListResponse, Reply> {
    let listed = services.access.list_users(&caller, &page(request.pivot, request.limit)).await?;
    Ok(UsersListResponse { items: listed.into_iter().map(message).collect() })
}

/// `POST /v1/users.delete`: with bindings and keys.
pub(super) async fn delete(
    services: Services,
    caller: Principal,
    request: UsersDeleteRequest,
) -> Result<Done, Reply> {
    services.access.delete_user(&caller, &request.id).await?;
    Ok(DONE)
}

fn message(user: leasehold_access::User) -> User {
    User {
        id: user.id,
        username: user.username,
        external_id: user.external_id,
        email: user.email,
        created_at: Some(timestamp(user.created_at)),
        updated_at: Some(timestamp(user.updated_at)),
    }
}
