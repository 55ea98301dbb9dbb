use leasehold_access::{Permission, Principal};
use leasehold_api::queue::{StorageItemsListRequest, StorageItemsListResponse};
use leasehold_queue::ListItems;

use super::super::wire::queue_name;
use crate::reply::Reply;
use crate::services::Services;

/// `POST /v1/storage/items.list`: ready and leased items of a partition.
pub(super) async fn items(
    services: Services,
    caller: Principal,
    request: StorageItemsListRequest,
) -> Result<StorageItemsListResponse, Reply> {
    list(services, caller, request, false).await
}

/// `POST /v1/storage/scheduled.list`: its scheduled items.
pub(super) async fn scheduled(
    services: Services,
    caller: Principal,
    request: StorageItemsListRequest,
) -> Result<StorageItemsListResponse, Reply> {
    list(services, caller, request, true).await
}

async fn list(
    services: Services,
    caller: Principal,
    request: StorageItemsListRequest,
    scheduled: bool,
) -> Result<StorageItemsListResponse, Reply> {
    let queue = queue_name(&request.queue_name)?;
    services.permit(&caller, &queue, Permission::QueueStats).await?;
    let wanted = ListItems {
        queue: &queue,
        partition: request.partition.into(),
        pivot: &request.pivot,
        limit: request.limit.into(),
    };
    let listed = match scheduled {
        true => services.engine.list_scheduled(wanted).await?,
        false => services.engine.list_items(wanted).await?,
    };
    Ok(StorageItemsListResponse { items: listed.into_iter().map(super::message).collect() })
}
