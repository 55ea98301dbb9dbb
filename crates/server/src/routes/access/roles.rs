use leasehold_access::{Principal, RoleRequest};
use leasehold_api::queue::{
    Role, RoleCreateRequest, RoleCreateResponse, RoleUpdateRequest, RolesDeleteRequest, RolesListRequest,
    RolesListResponse,
};

use super::super::operation::{DONE, Done};
use super::super::wire::timestamp;
use super::page;
use crate::reply::Reply;
use crate::services::Services;

/// `POST /v1/roles.create`
pub(super) async fn create(
    services: Services,
    caller: Principal,
    request: RoleCreateRequest,
) -> Result<RoleCreateResponse, Reply> {
    let RoleCreateRequest { namespace, name, permissions } = request;
    let id = services.access.create_role(&caller, &RoleRequest { namespace, name, permissions }).await?;
    Ok(RoleCreateResponse { id })
}

/// `POST /v1/roles.update`: replaces the permissions.
pub(super) async fn update(
    services: Services,
    caller: Principal,
    request: RoleUpdateRequest,
) -> Result<Done, Reply> {
    let RoleUpdateRequest { namespace, name, permissions } = request;
    services.access.update_role(&caller, &RoleRequest { namespace, name, permissions }).await?;
    Ok(DONE)
}

/// `POST /v1/roles.list`
pub(super) async fn list(
    services: Services,
    caller: Principal,
    request: RolesListRequest,
) -> Result<RolesListResponse, Reply> {
    let page = page(request.pivot, request.limit);
    let listed = services.access.list_roles(&caller, &request.namespace, &page).await?;
    Ok(RolesListResponse { items: listed.into_iter().map(message).collect() })
}

/// `POST /v1/roles.delete`
pub(super) async fn delete(
    services: Services,
    caller: Principal,
    request: RolesDeleteRequest,
) -> Result<Done, Reply> {
    services.access.delete_role(&caller, &request.namespace, &request.name).await?;
    Ok(DONE)
}

fn message(role: leasehold_access::Role) -> Role {
    Role {
        id: role.id,
        namespace: role.namespace.to_string(),
        name: role.name,
        permissions: role.permissions.iter().map(|permission| permission.as_str().to_owned()).collect(),
        created_at: Some(timestamp(role.created_at)),
    }
}
