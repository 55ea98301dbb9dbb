use leasehold_access::{Permission, Principal};
use leasehold_api::queue::StorageItemsDeleteRequest;

use super::super::operation::{DONE, Done};
use super::super::wire::queue_name;
use crate::reply::Reply;
use crate::services::Services;

/// `POST /v1/storage/items.delete`: by id, leased or not; unknown ids are fine, a malformed one deletes nothing.
pub(super) async fn delete(
    services: Services,
    caller: Principal,
    request: StorageItemsDeleteRequest,
) -> Result<Done, Reply> {
    let queue = queue_name(&request.queue_name)?;
    services.permit(&caller, &queue, Permission::QueueClear).await?;
    let ids = request.ids.iter().map(|id| id.as_str().into()).collect();
    services.engine.delete_items(&queue, request.partition.into(), ids).await?;
    services.access.audit_done(&caller, Permission::QueueClear, queue.as_str());
    Ok(DONE)
}
