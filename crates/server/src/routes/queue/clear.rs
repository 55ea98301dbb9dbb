use leasehold_access::{Permission, Principal};
use leasehold_api::queue::QueueClearRequest;
use leasehold_queue::ClearRequest;

use super::super::operation::{DONE, Done};
use super::super::wire::queue_name;
use crate::reply::Reply;
use crate::services::Services;

/// `POST /v1/queue.clear`: deletes ready items, leased ones too, scheduled ones, as asked.
pub(super) async fn clear(
    services: Services,
    caller: Principal,
    request: QueueClearRequest,
) -> Result<Done, Reply> {
    let queue = queue_name(&request.queue_name)?;
    services.permit(&caller, &queue, Permission::QueueClear).await?;
    let QueueClearRequest { scheduled, destructive, .. } = request;
    services.engine.clear(&queue, ClearRequest { queue: request.queue, destructive, scheduled }).await?;
    services.access.audit_done(&caller, Permission::QueueClear, queue.as_str());
    Ok(DONE)
}
