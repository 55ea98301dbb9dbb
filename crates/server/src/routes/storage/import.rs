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
    let items = request.items.into_iter().map(import_item).collect::<Result<Vec<_>, Reply>>()?;
    let imported = services.engine.import_items(&queue, request.partition.into(), items).await?;
    Ok(StorageItemsImportResponse { items: imported.into_iter().map(super::message).collect() })
}

fn import_item(item: StorageItem) -> Result<ImportItem, Reply> {
    let lease_deadline = item.lease_deadline.map(|at| instant("lease_deadline", at)).transpose()?;
    Ok(ImportItem {
        source_id: (!item.source_id.is_empty()).then_some(item.source_id),
        is_leased: item.is_leased,
        // What is left out reads as 1970 ever after.
        lease_deadline: Some(lease_deadline.unwrap_or(Timestamp::EPOCH)),
        expire_deadline: item.expire_deadline.map(|at| instant("expire_deadline", at)).transpose()?,
        attempts: item.attempts,
        max_attempts: item.max_attempts,
        reference: item.reference,
        encoding: item.encoding,
        kind: item.kind,
        payload: item.payload,
    })
}
