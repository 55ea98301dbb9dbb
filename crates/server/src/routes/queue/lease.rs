use leasehold_access::{Permission, Principal};
use leasehold_api::queue::{QueueLeaseItem, QueueLeaseRequest, QueueLeaseResponse};
use leasehold_queue::{Item, LeaseRequest};

use super::super::answer::Counted;
use super::super::wire::{lease_timeout, queue_name, request_timeout, saturating_i32, timestamp_or_zero};
use crate::reply::Reply;
use crate::services::Services;

/// `POST /v1/queue.lease`: waits for the first item. A client that goes away while it waits leaves the line.
pub(super) async fn lease(
    services: Services,
    caller: Principal,
    request: QueueLeaseRequest,
) -> Result<Counted<QueueLeaseResponse>, Reply> {
    let queue = queue_name(&request.queue_name)?;
    services.permit(&caller, &queue, Permission::QueueLease).await?;
    let leased = services.engine.lease(LeaseRequest {
        queue,
        timeout: request_timeout(&request.request_timeout)?,
        client_id: request.client_id,
        batch_size: request.batch_size.into(),
        lease_timeout: lease_timeout(&request.lease_timeout)?,
    });
    let leased = leased.await?;
    let message = QueueLeaseResponse {
        queue_name: request.queue_name,
        partition: saturating_i32(leased.partition),
        items: leased.items.into_iter().map(leased_item).collect(),
    };
    Ok(Counted { message, room: leased.room })
}

fn leased_item(item: Item) -> QueueLeaseItem {
    QueueLeaseItem {
        encoding: item.encoding,
        kind: item.kind,
        reference: item.reference,
        id: item.id.text().as_str().to_owned(),
        attempts: item.attempts,
        lease_deadline: Some(timestamp_or_zero(item.lease_deadline)),
        bytes: item.payload,
    }
}
