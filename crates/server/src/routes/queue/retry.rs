use leasehold_access::{Permission, Principal};
use leasehold_api::queue::{QueueRetryItem, QueueRetryRequest};
use leasehold_queue::{RetryItem, RetryRequest};

use super::super::operation::{DONE, Done};
use super::super::wire::{instant, queue_name};
use crate::reply::Reply;
use crate::services::Services;

/// `POST /v1/queue.retry`: gives items back, now, later, or for good.
pub(super) async fn retry(
    services: Services,
    caller: Principal,
    request: QueueRetryRequest,
) -> Result<Done, Reply> {
    let queue = queue_name(&request.queue_name)?;
    services.permit(&caller, &queue, Permission::QueueRetry).await?;
    let items = request.items.into_iter().map(retry_item).collect::<Result<Vec<_>, Reply>>()?;
    let retry = RetryRequest { queue, partition: request.partition.into(), items };
    services.engine.retry(retry).await?;
    Ok(DONE)
}

fn retry_item(item: QueueRetryItem) -> Result<RetryItem, Reply> {
    let retry_at = item.retry_at.map(|at| instant("retry_at", at)).transpose()?;
    Ok(RetryItem { id: item.id.as_str().into(), retry_at, dead: item.dead })
}
