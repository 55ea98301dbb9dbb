use leasehold_access::{Permission, Principal};
use leasehold_api::queue::QueueInfo;
use leasehold_queue::{Error, QueueName};

use super::super::operation::{DONE, Done};
use crate::reply::Reply;
use crate::services::Services;

/// `POST /v1/queues.update`: timeouts left out stay, the rest is reset.
pub(super) async fn update(services: Services, caller: Principal, request: QueueInfo) -> Result<Done, Reply> {
    let name: QueueName = request.queue_name.parse().map_err(|refusal| Reply::from(Error::from(refusal)))?;
    let mut change = super::change(&request)?;
    services.permit(&caller, &name, Permission::QueueUpdate).await?;
    change.dead_queue = super::dead_queue(&request)?;
    let queue = services.engine.queue_info(&name).await?;
    let dead_queue = change.dead_queue.as_ref();
    let permitted = services.permit_dead_queue(&caller, &queue.namespace, Some(&queue), dead_queue).await?;
    let updated = services.engine.update_queue(&name, change).await?;
    match &permitted {
        Some(_) => services.access.remember_dead_queue(&updated, permitted.as_ref()).await?,
        None => services.forget_dead_queue(&name).await,
    }
    services.access.audit_done(&caller, Permission::QueueUpdate, name.as_str());
    Ok(DONE)
}
