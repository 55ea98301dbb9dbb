use leasehold_access::{Permission, Principal};
use leasehold_api::queue::{QueueExtendRequest, QueueExtendResponse};
use leasehold_queue::ExtendRequest;

use super::super::wire::{lease_timeout, queue_name, request_timeout, timestamp};
use crate::reply::Reply;
use crate::services::Services;

/// `POST /v1/queue.extend`: holds leased items longer. Whoever may lease may.
pub(super) async fn extend(
    services: Services,
    caller: Principal,
    request: QueueExtendRequest,
) -> Result<QueueExtendResponse, Reply> {
    let queue = queue_name(&request.queue_name)?;
    services.permit(&caller, &queue, Permission::QueueLease).await?;
    services.partition_exists(&queue, request.partition.into()).await?;
    let extended = services.engine.extend(ExtendRequest {
        queue,
        partition: request.partition.into(),
        timeout: request_timeout(&request.request_timeout)?,
        ids: request.ids.iter().map(|id| id.as_str().into()).collect(),
        lease_timeout: lease_timeout(&request.lease_timeout)?,
    });
    Ok(QueueExtendResponse { lease_deadline: Some(timestamp(extended.await?.lease_deadline)) })
}
