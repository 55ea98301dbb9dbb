use leasehold_access::{Permission, Principal};
use leasehold_api::queue::QueueCompleteRequest;
use leasehold_queue::CompleteRequest;

use super::super::operation::{DONE, Done};
use super::super::wire::{queue_name, request_timeout};
use crate::reply::Reply;
use crate::services::Services;

/// `POST /v1/queue.complete`: all the ids or none.
pub(super) async fn complete(
    services: Services,
    caller: Principal,
    request: QueueCompleteRequest,
) -> Result<Done, Reply> {
    let queue = queue_name(&request.queue_name)?;
    services.permit(&caller, &queue, Permission::QueueComplete).await?;
    services.partition_exists(&queue, request.partition.into()).await?;
    let ids = request.ids.iter().map(|id| id.as_str().into()).collect();
    let timeout = request_timeout(&request.request_timeout)?;
    let complete = CompleteRequest { queue, partition: request.partition.into(), timeout, ids };
    services.engine.complete(complete).await?;
    Ok(DONE)
}
