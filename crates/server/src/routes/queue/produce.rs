use leasehold_access::{Permission, Principal};
use leasehold_api::queue::{QueueProduceItem, QueueProduceRequest};
use leasehold_queue::{NewItem, ProduceRequest};

use super::super::operation::{DONE, Done};
use super::super::wire::{instant, queue_name, request_timeout};
use crate::reply::Reply;
use crate::services::Services;

/// `POST /v1/queue.produce`: 200 means durably stored.
pub(super) async fn produce(
    services: Services,
    caller: Principal,
    request: QueueProduceRequest,
) -> Result<Done, Reply> {
    let queue = queue_name(&request.queue_name)?;
    services.permit(&caller, &queue, Permission::QueueProduce).await?;
    let timeout = request_timeout(&request.request_timeout)?;
    let items = request.items.into_iter().map(new_item).collect::<Result<Vec<_>, Reply>>()?;
    services.engine.produce(ProduceRequest { queue, timeout, items }).await?;
    Ok(DONE)
}

fn new_item(item: QueueProduceItem) -> Result<NewItem, Reply> {
    Ok(NewItem {
        enqueue_at: item.enqueue_at.map(|at| instant("enqueue_at", at)).transpose()?,
        reference: item.reference,
        encoding: item.encoding,
        kind: item.kind,
        payload: if item.bytes.is_empty() { item.utf8.into() } else { item.bytes },
    })
}
