use leasehold_access::{ApiKey, ApiKeyRequest, Principal};
use leasehold_api::queue::{
    ApiKeyCreateRequest, ApiKeyCreateResponse, ApiKeyMetadata, ApiKeysDeleteRequest, ApiKeysListRequest,
    ApiKeysListResponse,
};

use super::super::operation::{DONE, Done};
use super::super::wire::{instant, timestamp};
use super::page;
use crate::reply::Reply;
use crate::services::Services;

/// `POST /v1/apikeys.create`: the only reply that shows the key.
pub(super) async fn create(
    services: Services,
    caller: Principal,
    request: ApiKeyCreateRequest,
) -> Result<ApiKeyCreateResponse, Reply> {
    let request = ApiKeyRequest {
        user_id: request.user_id,
        name: request.name,
        namespace_scope: request.namespace_scope,
        expires_at: request.expires_at.map(|at| instant("expires_at", at)).transpose()?,
        key_tag: request.key_tag,
    };
    let created = services.access.create_api_key(&caller, &request).await?;
    Ok(ApiKeyCreateResponse { id: created.id, key: created.key.expose().to_owned(), prefix: created.prefix })
}

/// `POST /v1/apikeys.list`
pub(super) async fn list(
    services: Services,
    caller: Principal,
    request: ApiKeysListRequest,
) -> Result<ApiKeysListResponse, Reply> {
    let page = page(request.pivot, request.limit);
    let listed = services.access.list_api_keys(&caller, &request.user_id, &page).await?;
    Ok(ApiKeysListResponse { items: listed.into_iter().map(message).collect() })
}

/// `POST /v1/apikeys.delete`
pub(super) async fn delete(
    services: Services,
    caller: Principal,
    request: ApiKeysDeleteRequest,
) -> Result<Done, Reply> {
    services.access.delete_api_key(&caller, &request.id).await?;
    Ok(DONE)
}

fn message(key: ApiKey) -> ApiKeyMetadata {
    ApiKeyMetadata {
        id: key.id,
        user_id: key.user_id,
        namespace_scope: key.namespace_scope.unwrap_or_default(),
        name: key.name,
        prefix: key.prefix,
        expires_at: key.expires_at.map(timestamp),
        last_used_at: key.last_used_at.map(timestamp),
        created_at: Some(timestamp(key.created_at)),
    }
}
