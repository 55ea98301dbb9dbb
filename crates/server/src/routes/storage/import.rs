use leasehold_access::{Permission, Principal};
use leasehold_api::queue::{StorageItem, StorageItemsImportRequest, StorageItemsImportResponse};
use leasehold_core::Timestamp;
use leasehold_queue::ImportItem;

use super::super::wire::{instant, queue_name};
use crate::reply::Reply;
use crate::services::Services;

/// `POST /v1/storage/items.import`: items as they are, under new ids.
pub(super) async fn import(
    services: Services,
    caller: Principal,
    request: StorageItemsImportRequest,
) -> Result<StorageItemsImportResponse, Reply> {
    let queue = queue_name(&request.queue_name)?;
    services.permit(&caller, &queue, Permission::QueueProduce).await?;
    let items = request.items.into_iter().map(import_item).collect();
    let imported = services.engine.import_items(&queue, request.partition.into(), items).await?;
    Ok(StorageItemsImportResponse { items: imported.into_iter().map(super::message).collect() })
}

fn import_item(item: StorageItem) -> ImportItem {
    ImportItem {
        source_id: (!item.source_id.is_empty()).then_some(item.source_id),
        is_leased: item.is_leased,
        // What is left out reads as 1970 ever after.
        lease_deadline: Some(item.lease_deadline.map_or(Timestamp::EPOCH, instant)),
        expire_deadline: item.expire_deadline.map(instant),
        attempts: item.attempts,
        max_attempts: item.max_attempts,
        reference: item.reference,
        encoding: item.encoding,
        kind: item.kind,
        payload: item.payload,
    }
}
