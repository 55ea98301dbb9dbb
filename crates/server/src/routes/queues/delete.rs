use leasehold_access::{Permission, Principal};
use leasehold_api::queue::QueuesDeleteRequest;
use leasehold_queue::{Error, QueueName};

use super::super::operation::{DONE, Done};
use crate::reply::Reply;
use crate::services::Services;

/// `POST /v1/queues.delete`: the queue, its items and its storage.
pub(super) async fn delete(
    services: Services,
    caller: Principal,
    request: QueuesDeleteRequest,
) -> Result<Done, Reply> {
    let name: QueueName = request.queue_name.parse().map_err(|refusal| Reply::from(Error::from(refusal)))?;
    services.permit(&caller, &name, Permission::QueueDelete).await?;
    services.engine.delete_queue(&name).await?;
    services.forget_dead_queue(&name).await;
    services.access.audit_done(&caller, Permission::QueueDelete, name.as_str());
    Ok(DONE)
}
