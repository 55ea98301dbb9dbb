use leasehold_access::{NamespaceRequest, Principal, Tag};
use leasehold_api::queue::{
    NamespaceInfo, NamespacesDeleteRequest, NamespacesListRequest, NamespacesListResponse,
};

use super::super::operation::{DONE, Done};
use super::super::wire::timestamp;
use super::page;
use crate::reply::Reply;
use crate::services::Services;

/// `POST /v1/namespaces.create`
pub(super) async fn create(
    services: Services,
    caller: Principal,
    request: NamespaceInfo,
) -> Result<Done, Reply> {
    services.access.create_namespace(&caller, &parsed(request)).await?;
    Ok(DONE)
}

/// `POST /v1/namespaces.update`: replaces description and tag.
pub(super) async fn update(
    services: Services,
    caller: Principal,
    request: NamespaceInfo,
) -> Result<Done, Reply> {
    services.access.update_namespace(&caller, &parsed(request)).await?;
    Ok(DONE)
}

/// `POST /v1/namespaces.list`
pub(super) async fn list(
    services: Services,
    caller: Principal,
    request: NamespacesListRequest,
) -> Result<NamespacesListResponse, Reply> {
    let listed = services.access.list_namespaces(&caller, &page(request.pivot, request.limit)).await?;
    Ok(NamespacesListResponse { items: listed.into_iter().map(message).collect() })
}

/// `POST /v1/namespaces.delete`
pub(super) async fn delete(
    services: Services,
    caller: Principal,
    request: NamespacesDeleteRequest,
) -> Result<Done, Reply> {
    services.access.delete_namespace(&caller, &request.name).await?;
    Ok(DONE)
}

fn parsed(request: NamespaceInfo) -> NamespaceRequest {
    NamespaceRequest {
        name: request.name,
        description: request.description,
        api_key_tag: request.api_key_tag,
    }
}

fn message(info: leasehold_access::NamespaceInfo) -> NamespaceInfo {
    NamespaceInfo {
        name: info.name.to_string(),
        description: info.description,
        created_at: Some(timestamp(info.created_at)),
        api_key_tag: info.api_key_tag.as_ref().map(Tag::as_str).unwrap_or_default().to_owned(),
    }
}
