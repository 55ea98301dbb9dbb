use leasehold_access::{Principal, RoleBindingRequest};
use leasehold_api::queue::{
    RoleBinding, RoleBindingCreateRequest, RoleBindingCreateResponse, RoleBindingDeleteRequest,
    RoleBindingsListRequest, RoleBindingsListResponse,
};

use super::super::operation::{DONE, Done};
use super::super::wire::timestamp;
use super::page;
use crate::reply::Reply;
use crate::services::Services;

/// `POST /v1/rolebindings.create`
pub(super) async fn create(
    services: Services,
    caller: Principal,
    request: RoleBindingCreateRequest,
) -> Result<RoleBindingCreateResponse, Reply> {
    let RoleBindingCreateRequest { namespace, role_name, user_id } = request;
    let request = RoleBindingRequest { namespace, role_name, user_id };
    Ok(RoleBindingCreateResponse { id: services.access.create_role_binding(&caller, &request).await? })
}

/// `POST /v1/rolebindings.list`
pub(super) async fn list(
    services: Services,
    caller: Principal,
    request: RoleBindingsListRequest,
) -> Result<RoleBindingsListResponse, Reply> {
    let page = page(request.pivot, request.limit);
    let (namespace, user_id) = (&request.namespace, &request.user_id_filter);
    let listed = services.access.list_role_bindings(&caller, namespace, user_id, &page).await?;
    Ok(RoleBindingsListResponse { items: listed.into_iter().map(message).collect() })
}

/// `POST /v1/rolebindings.delete`
pub(super) async fn delete(
    services: Services,
    caller: Principal,
    request: RoleBindingDeleteRequest,
) -> Result<Done, Reply> {
    let RoleBindingDeleteRequest { namespace, role_name, user_id } = request;
    services
        .access
        .delete_role_binding(&caller, &RoleBindingRequest { namespace, role_name, user_id })
        .await?;
    Ok(DONE)
}

fn message(binding: leasehold_access::RoleBinding) -> RoleBinding {
    RoleBinding {
        id: binding.id,
        namespace: binding.namespace.to_string(),
        user_id: binding.user_id,
        role_id: binding.role_id,
        created_at: Some(timestamp(binding.created_at)),
    }
}
